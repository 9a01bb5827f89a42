/** Tests programs that an ACP agent runs in the editor that sent the prompt. */
import { methods } from '@agentclientprotocol/sdk/unstable';
import { AcpDriver } from '@liminal/agents/acp';
import { acpAgent, type Step } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { type EditorOptions, stage } from './editor.ts';

const request = (method: string, params: object, as: string): Step => ({
  request: { method: `terminal/${method}`, params: { ...params }, id: method, as },
});
const it = { terminalId: '{{made.terminalId}}' };
const steps: Step[] = [
  request('create', { command: 'echo', args: ['here'], env: [{ name: 'A', value: 'b' }] }, 'made'),
  request('wait_for_exit', it, 'exit'),
  request('output', it, 'out'),
  request('release', it, 'released'),
  { say: '{{out.output}}' },
];

async function withAgent(played = steps) {
  const scripted = await acpAgent({ turns: [{ steps: played }] });
  onTestFinished(() => scripted.control.close());
  const { command, args, env, control } = scripted;
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const made = await stage({ provide: () => new AcpDriver({ ...about, command, args, env }) });
  const answerOf = (id: string) => control.until((one) => one.id === id && !one.method);
  return { ...made, answerOf };
}

/** Starts an editor whose programs print the folder in which they ran. `asked` contains the requests to the editor. */
function withTerminals(
  asked: unknown[],
  exited = async () => ({ exitCode: 3 }),
  killed = () => {},
): EditorOptions {
  const { terminal } = methods.client;
  return {
    capabilities: { terminal: true },
    answers: (app) =>
      app
        .onRequest(terminal.create, ({ params }) => {
          asked.push(params);
          return { terminalId: 'theirs' };
        })
        .onRequest(terminal.waitForExit, exited)
        .onRequest(terminal.output, () => ({ output: 'in the editor', truncated: false }))
        .onRequest(terminal.kill, ({ params: { terminalId } }) => {
          asked.push(`kill ${terminalId}`);
          killed();
          return {};
        })
        .onRequest(terminal.release, ({ params: { terminalId } }) => {
          asked.push(`release ${terminalId}`);
          return {};
        }),
  };
}

test('a program runs in the editor that sent the prompt, and the agent gets the program’s outcome', async () => {
  const { editor, workspace, answerOf } = await withAgent();
  const asked: unknown[] = [];
  const zed = await editor(withTerminals(asked));
  const sessionId = await zed.create();
  await zed.prompt(sessionId, 'Run it.');
  expect(zed.agentText).toBe('in the editor');
  expect((await answerOf('wait_for_exit')).result).toEqual({ exitCode: 3, signal: null });
  const cwd = workspace.projectDir;
  const env = [{ name: 'A', value: 'b' }];
  const wanted = { sessionId, command: 'echo', args: ['here'], env, cwd };
  expect(asked).toEqual([{ ...wanted, outputByteLimit: 1024 * 1024 }, 'release theirs']);
});

test('if the client has no terminals, the programs of the turn run on the server', async () => {
  const { editor, runtime } = await withAgent();
  const asked: unknown[] = [];
  const plain = await editor();
  const sessionId = await plain.create();
  const zed = await editor(withTerminals(asked));
  await zed.load(sessionId);
  await plain.prompt(sessionId, 'Run it.');
  expect(plain.agentText).toBe('here\n');
  expect((await runtime.info(sessionId)).session.state).toBe('idle');
  expect(asked).toEqual([]);
});

test('if an editor refuses to run a program, the agent gets the editor’s message, and the program does not run on the server instead', async () => {
  const { editor, answerOf } = await withAgent();
  const zed = await editor({
    capabilities: { terminal: true },
    answers: (app) =>
      app.onRequest(methods.client.terminal.create, () => {
        throw new Error('Not in this folder.');
      }),
  });
  const sessionId = await zed.create();
  await zed.prompt(sessionId, 'Run it.');
  expect((await answerOf('create')).error).toMatchObject({
    code: -32603,
    message: expect.stringContaining('The editor did not run “echo”'),
  });
});

test('if an editor disconnects during a command, the turn continues and the command’s outcome is unknown', async () => {
  const { editor, answerOf, runtime } = await withAgent();
  const waiting = Promise.withResolvers<never>();
  const zed = await editor(
    withTerminals([], () => {
      zed.leave();
      return waiting.promise;
    }),
  );
  const sessionId = await zed.create();
  await expect(zed.prompt(sessionId, 'Run it.')).rejects.toThrow('ACP connection closed');
  expect((await answerOf('wait_for_exit')).result).toEqual({ exitCode: null, signal: null });
  expect((await answerOf('output')).result).toMatchObject({
    output: expect.stringContaining('[The editor that ran this program has disconnected'),
  });
  await expect.poll(async () => (await runtime.info(sessionId)).session.state).toBe('idle');
});

test('INV-8: Stop ends a program in the editor even if the agent does not end this program', async () => {
  const { editor } = await withAgent([...steps.slice(0, 1), { say: 'Begun.' }, { hang: true }]);
  const asked: unknown[] = [];
  const killed = Promise.withResolvers<{ exitCode: number }>();
  const zed = await editor(
    withTerminals(
      asked,
      () => killed.promise,
      () => killed.resolve({ exitCode: 143 }),
    ),
  );
  const sessionId = await zed.create();
  const prompt = zed.prompt(sessionId, 'Run it.');
  await expect.poll(() => zed.agentText).toBe('Begun.');
  await zed.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await prompt).toMatchObject({ stopReason: 'cancelled' });
  expect(asked.slice(1)).toEqual(['kill theirs']);
});

test('INV-8: if the agent leaves a program running in the editor, the program is released when the session ends', async () => {
  const { editor, runtime } = await withAgent(steps.slice(0, 1));
  const asked: unknown[] = [];
  const never = Promise.withResolvers<never>();
  const zed = await editor(withTerminals(asked, () => never.promise));
  const sessionId = await zed.create();
  await zed.prompt(sessionId, 'Run it.');
  expect(asked).not.toContain('release theirs');
  await runtime.kill(sessionId);
  await expect.poll(() => asked).toContain('release theirs');
});
