/** An agent that is started by a launcher program, like many agents from npm, and runs longer than the launcher. */
import { testAtLength } from '@liminal/testkit/at-length';
import type { AgentScript } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { readProcess } from '../../src/process/table.ts';
import { runAgent, messagesOf } from './running-agent.ts';

/** An agent that waits forever with its pipes open, and ignores requests to end. */
const stubborn: AgentScript = {
  outlivesStdin: true,
  ignoresTerm: true,
  turns: [
    {
      when: 'work',
      steps: [{ say: 'Half of it.' }, { spawn: { holdsStdout: true } }, { hang: true }],
    },
  ],
};

test('INV-2, INV-8: when a launcher is killed, the turn ends as a crash and the launched agent is ended', async () => {
  const { create, provider, control, projectDir } = await runAgent(stubborn, { isLaunched: true });
  const listener = await create();
  await listener.ask('Hi.');
  const turnId = await listener.send('Please work.');
  const [child] = await control.children();
  const worker = await control.process();
  const launcher = readProcess(worker.pid)!.parent;
  expect(launcher).not.toBe(process.pid);

  process.kill(launcher, 'SIGKILL');

  const crashed = await listener.response(turnId);
  expect(crashed.error?.code).toBe('PROCESS_CRASH');
  expect(messagesOf(crashed)).toEqual(['user: Please work.', 'agent: Half of it.']);
  await worker.gone;
  await expect.poll(() => readProcess(child!)).toBeUndefined();
  expect(provider.isAlive(listener.sessionId)).toBe(false);

  await provider.loadSession(listener.sessionId, { projectDir });
  expect(messagesOf(await listener.ask('And now?'))).toEqual([
    'user: And now?',
    'agent: You said: And now?',
  ]);
  expect(control.processes).toHaveLength(2);
});

testAtLength('when a launcher is killed between turns, the next message is not lost', async () => {
  const { create, provider, control, projectDir } = await runAgent(stubborn, {
    isLaunched: true,
  });
  const listener = await create();
  await listener.ask('Hi.');
  const worker = await control.process();

  process.kill(readProcess(worker.pid)!.parent, 'SIGKILL');

  await worker.gone;
  await listener.until(() => listener.exits[0]);
  await expect(listener.send('Lost?')).rejects.toMatchObject({ code: 'PROCESS_CRASH' });
  await provider.loadSession(listener.sessionId, { projectDir });
  expect(messagesOf(await listener.ask('Lost?'))).toContain('agent: You said: Lost?');
});
