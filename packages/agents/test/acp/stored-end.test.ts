/** The end of the process that lists an agent's stored sessions. */
import { homedir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { acpAgent } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { AcpAgent } from '../../src/kinds/acp/acp-agent.ts';
import { StoredSessions } from '../../src/kinds/acp/stored-sessions.ts';
import { readProcess } from '../../src/process/table.ts';
import { runAgent } from './running-agent.ts';

const stored = (sessionId: string, cwd: string) => ({
  sessionId,
  cwd,
  updates: [{ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Hm?' } }],
});

const isRunning = (pid: number): boolean => readProcess(pid) !== undefined;

test('INV-8: a closed provider starts no process for a late request', async () => {
  const { provider, control } = await runAgent({ sessions: [] });
  await provider.listStoredSessions();
  const asked = await control.process();

  await provider.close();

  await asked.gone;
  expect(await provider.listStoredSessions()).toEqual([]);
  await expect(provider.readStoredHistory('a', '/one')).rejects.toMatchObject({
    code: 'PROTOCOL_ERROR',
  });
  expect(control.processes).toEqual([asked]);
});

test('INV-8: closing during a request leaves no process', async () => {
  const { provider, control } = await runAgent({ sessions: [] });
  const asking = [provider.listStoredSessions(), provider.listStoredSessions()];

  await provider.close();

  await Promise.allSettled(asking);
  expect(control.processes.length).toBeLessThan(2);
  for (const { pid } of control.processes) expect(isRunning(pid)).toBe(false);
});

test('a session is opened only after the process that has read the session’s history has ended', async () => {
  const { another, control, projectDir } = await runAgent();
  await control.play({
    sessions: [stored('a', projectDir)],
    on: { 'session/list': [{ pauseMs: 500 }, { answer: true }] },
  });
  const provider = another();
  const reading = provider.readStoredHistory('a', projectDir);
  const reader = await control.process();
  // Loading waits for an open request.
  const loading = reading.then(async () => {
    const listing = provider.listStoredSessions();
    await provider.loadSession('a', { projectDir });
    return listing;
  });

  expect(await loading).toHaveLength(1);

  expect(isRunning(reader.pid)).toBe(false);
  expect(provider.isAlive('a')).toBe(true);
});

test('opening a session does not end a process that has read only other sessions', async () => {
  const { another, control, projectDir } = await runAgent();
  await control.play({ sessions: [stored('a', projectDir), stored('b', projectDir)] });
  const provider = another();
  await provider.readStoredHistory('a', projectDir);
  const reader = await control.process();

  await provider.loadSession('b', { projectDir });

  expect(isRunning(reader.pid)).toBe(true);
});

test('INV-8: closing waits for an idle process that is just ending', async () => {
  const { command, args, env, control } = await acpAgent({ sessions: [], outlivesStdin: true });
  onTestFinished(() => control.close());
  const stored = new StoredSessions({
    cliType: 'scripted',
    name: 'Scripted',
    running: () => undefined,
    hosting: () => undefined,
    start: (_cwd, signal) =>
      AcpAgent.start(
        {
          command: { command, args, env, inherited: {}, cwd: homedir() },
          offersFiles: true,
          limitMs: 60_000,
          hasAnswered: false,
        },
        signal,
      ),
    limitMs: 60_000,
    idleMs: 1,
  });
  await stored.list();
  const { pid } = await control.process();
  // The process is still ending: it ignores the end of its input, so this takes longer.
  await delay(50);
  expect(isRunning(pid)).toBe(true);

  await stored.close();

  expect(isRunning(pid)).toBe(false);
});
