/** An agent over ACP that continues a stopped turn until its process is ended. */
import { AcpProvider } from '@liminal/agents/acp';
import { acpAgent, type AgentScript } from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Reader, startWorld } from './harness.ts';

const script: AgentScript = {
  turns: [
    { when: 'slow', steps: [{ say: 'Well ' }, { hang: true }], cancel: 'ignore' },
    { steps: [{ say: 'Quick.' }] },
  ],
};

/** A session whose turn was stopped, while its agent still works on it. */
async function deafAgent(cancelLimitMs: number) {
  const { command, args, env, control } = await acpAgent(script);
  const names = { cliType: 'deaf', name: 'Deaf', description: 'Does not stop.' };
  const deaf = new AcpProvider({ ...names, command, args, env, cancelLimitMs });
  const world = await startWorld({}, { agents: () => [deaf] });
  onTestFinished(async () => {
    await world.end();
    await control.close();
  });
  const { runtime, projectDir } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'deaf', projectDir });
  const reader = new Reader(runtime, sessionId);
  await reader.untilType('session:info');
  await runtime.send(sessionId, 'The slow one.');
  await control.until('session/prompt');
  await runtime.cancel(sessionId);
  const state = async () => (await runtime.status(sessionId)).state;
  await expect.poll(state, { timeout: 60_000 }).not.toBe('running');
  return { deaf, control, runtime, reader, sessionId };
}

test('a message that is sent before the process of an agent that ignores stops is ended waits for the next process', async () => {
  const { control, runtime, reader, sessionId } = await deafAgent(500);

  await runtime.send(sessionId, 'Another.', 'next');

  await reader.until(({ items }) =>
    [...items.values()].some((item) => item.type === 'message' && item.content === 'Quick.'),
  );
  expect(control.processes).toHaveLength(2);
});

test('a message that waits for such a process starts no new process if the session is ended', async () => {
  const { deaf, control, runtime, sessionId } = await deafAgent(5_000);
  const given = vi.spyOn(deaf, 'sendMessage');

  const refusal = runtime.send(sessionId, 'Another.').catch((error: unknown) => error);
  await expect.poll(() => given.mock.calls.length).toBe(1);
  await runtime.kill(sessionId);
  expect(await refusal).toMatchObject({ code: 'PROCESS_CRASH' });

  expect(control.processes).toHaveLength(1);
});
