/** An agent over ACP that continues a stopped turn until its process is ended. */
import { AcpDriver } from '@liminal/agents/acp';
import { openedSessions } from '@liminal/agents/testing';
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
  const deaf = new AcpDriver({ ...names, command, args, env, cancelLimitMs });
  const sessions = openedSessions(deaf);
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
  return { sessions, control, runtime, reader, sessionId };
}

test('if an agent ignores a stop, a message that is sent before its process is ended is sent to the next process', async () => {
  const { control, runtime, reader, sessionId } = await deafAgent(500);

  await runtime.send(sessionId, 'Another.', 'next');

  await reader.until(({ items }) =>
    [...items.values()].some((item) => item.type === 'message' && item.content === 'Quick.'),
  );
  expect(control.processes).toHaveLength(2);
});

test('if the session is ended while a message waits for the next process, no new process is started', async () => {
  const { sessions, control, runtime, sessionId } = await deafAgent(5_000);
  const given = vi.spyOn(sessions[0]!, 'send');

  const refusal = runtime.send(sessionId, 'Another.').catch((error: unknown) => error);
  await expect.poll(() => given.mock.calls.length).toBe(1);
  await runtime.kill(sessionId);
  expect(await refusal).toMatchObject({ code: 'PROCESS_CRASH' });

  expect(control.processes).toHaveLength(1);
});
