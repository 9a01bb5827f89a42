/** Tests editors that open a session twice, open it during its turn, or disconnect while they open it. */
import { rmSync, symlinkSync } from 'node:fs';
import { methods, type RequestPermissionRequest } from '@agentclientprotocol/sdk/unstable';
import { AcpDriver } from '@liminal/agents/acp';
import { acpAgent } from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ActingProvider, type Step } from '../acp/acting-provider.ts';
import { stage } from './editor.ts';

const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };

async function scripted(script: Parameters<typeof acpAgent>[0]) {
  const { command, args, env, control } = await acpAgent(script);
  onTestFinished(() => control.close());
  const staged = await stage({ provide: () => new AcpDriver({ ...about, command, args, env }) });
  return { ...staged, control };
}

const talks = { turns: [{ steps: [{ say: 'Said once.' }] }] };

test('if a connection opens a session twice at the same time, the session is sent only once', async () => {
  const { editor, runtime } = await scripted(talks);
  const zed = await editor();
  const sessionId = await zed.create();
  const both = Promise.withResolvers<void>();
  const info = runtime.info.bind(runtime);
  let count = 0;
  vi.spyOn(runtime, 'info').mockImplementation(async (id) => {
    if (++count === 2) both.resolve();
    await both.promise;
    return info(id);
  });
  const loads = await Promise.allSettled([1, 2].map(async () => zed.load(sessionId)));
  expect(loads.map(({ status }) => status)).toContain('fulfilled');
  await zed.prompt(sessionId, 'Hello.');
  expect(zed.agentText).toBe('Said once.');
});

test('if an editor disconnects while it opens a session, the editor is not attached', async () => {
  const { editor, runtime } = await scripted(talks);
  const attach = vi.spyOn(runtime, 'attach');
  const [made, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const create = runtime.createSession.bind(runtime);
  vi.spyOn(runtime, 'createSession').mockImplementationOnce(async (request) => {
    const session = await create(request);
    made.resolve();
    await left.promise;
    return session;
  });
  const info = vi.spyOn(runtime, 'info');
  const zed = await editor();
  const created = zed.create().catch(() => {});
  await made.promise;
  const asked = info.mock.calls.length;
  zed.leave();
  await created;
  left.resolve();
  await expect.poll(() => info.mock.settledResults.slice(asked)).not.toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(attach).not.toHaveBeenCalled();
});

test('if a session is loaded again during a turn, the whole session is sent, and the open prompt is answered when its turn ends', async () => {
  const { editor, control } = await scripted({
    turns: [{ steps: [{ say: 'First. ' }, { gate: 'rest' }, { say: 'Last.' }] }],
  });
  const zed = await editor();
  const sessionId = await zed.create();
  const answered = zed.prompt(sessionId, 'Hello.');
  await zed.until(() => zed.agentText.includes('First.') || undefined);
  zed.updates.length = 0;
  await zed.load(sessionId);
  expect(zed.updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: 'user_message_chunk',
      content: { type: 'text', text: 'Hello.' },
    }),
  );
  control.open('rest');
  expect(await answered).toMatchObject({ stopReason: 'end_turn' });
  expect(zed.agentText).toBe('First. Last.');
});

test('sessions are listed for a link to their project, and also for the project’s path with a trailing slash', async () => {
  const { editor, workspace } = await scripted(talks);
  const linked = `${workspace.projectDir}-linked`;
  symlinkSync(workspace.projectDir, linked);
  onTestFinished(() => rmSync(linked));
  const zed = await editor();
  const sessionId = await zed.create({ cwd: linked });
  for (const cwd of [linked, workspace.projectDir, `${workspace.projectDir}/`]) {
    const { sessions } = await zed.agent.request(methods.agent.session.list, { cwd });
    expect(sessions).toEqual([expect.objectContaining({ sessionId, cwd })]);
  }
  const elsewhere = { cwd: `${workspace.projectDir}-none` };
  expect(await zed.agent.request(methods.agent.session.list, elsewhere)).toEqual({ sessions: [] });
});

test('a folder that is not an absolute path is rejected, because it would be relative to the server’s own folder', async () => {
  const { editor } = await scripted(talks);
  const zed = await editor();
  const sessionId = await zed.create();
  for (const cwd of ['', '.', 'src', '~']) {
    const refusal = { code: -32_602, data: { code: 'INVALID_PARAMS' } };
    await expect(zed.create({ cwd })).rejects.toMatchObject(refusal);
    await expect(zed.load(sessionId, { cwd })).rejects.toMatchObject(refusal);
  }
});

test('an empty prompt is rejected, and no turn begins', async () => {
  const { editor, runtime } = await scripted(talks);
  const zed = await editor();
  const sessionId = await zed.create();
  await expect(zed.prompt(sessionId, ' \n')).rejects.toMatchObject({
    code: -32_602,
    message: 'The prompt is empty.',
  });
  expect((await runtime.history(sessionId, { limit: 1 })).turns).toEqual([]);
});

test('an editor that resumes a session gets its open question, but none of the text before the question', async () => {
  const actor = new ActingProvider();
  const said = (id: string, content: string) => {
    const finalItem = { id, type: 'message', content, origin: 'agent' } as const;
    return { type: 'item_done', itemId: id, finalItem } as const;
  };
  const steps: Step[] = [
    said('before', 'Before.'),
    { ask: { itemId: 'ask', title: 'Which way?' } },
    said('after', 'After.'),
    { type: 'response_done', status: 'completed', finishReason: null },
  ];
  actor.scripts.set('Go.', { steps, isSlow: false });
  const { editor, workspace, runtime } = await stage({ provide: () => actor });
  const cwd = workspace.projectDir;
  const { sessionId } = await runtime.createSession({ cliType: 'actor', projectDir: cwd });
  await runtime.send(sessionId, 'Go.', 'turn-1');
  await expect
    .poll(async () => JSON.stringify(await runtime.getRun('turn-1')))
    .toContain('Which way?');
  const titles: unknown[] = [];
  const permit = ({ toolCall }: RequestPermissionRequest) => {
    titles.push(toolCall.title);
    return 'yes';
  };
  const other = await editor({ permit });
  await other.agent.request(methods.agent.session.resume, { sessionId, cwd });
  await other.until(() => other.agentText.includes('After.') || undefined);
  expect(titles).toEqual(['Which way?']);
  expect(other.agentText).toBe('After.');
});
