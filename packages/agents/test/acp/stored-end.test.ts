/** When the process that lists an agent's stored sessions ends. */
import { homedir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { acpAgent } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { AcpAgent } from '../../src/acp/acp-agent.ts';
import { StoredSessions } from '../../src/acp/stored-sessions.ts';
import { readProcess } from '../../src/process/table.ts';
import { runAgent } from './running-agent.ts';

const stored = (sessionId: string, cwd: string) => ({
  sessionId,
  cwd,
  updates: [{ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Hm?' } }],
});

const isRunning = (pid: number): boolean => readProcess(pid) !== undefined;

test('INV-8: a provider that is closed starts no process for a question that comes late', async () => {
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

test('INV-8: closing while a question is asked leaves no process', async () => {
  const { provider, control } = await runAgent({ sessions: [] });
  const asking = [provider.listStoredSessions(), provider.listStoredSessions()];

  await provider.close();

  await Promise.allSettled(asking);
  expect(control.processes.length).toBeLessThan(2);
  for (const { pid } of control.processes) expect(isRunning(pid)).toBe(false);
});

test('a session that was read is opened once the process that read it has ended', async () => {
  const { another, control, projectDir } = await runAgent();
  await control.play({
    sessions: [stored('a', projectDir)],
    on: { 'session/list': [{ pauseMs: 500 }, { answer: true }] },
  });
  const provider = another();
  const reading = provider.readStoredHistory('a', projectDir);
  const reader = await control.process();
  // It waits for a question that is still being asked.
  const loading = reading.then(async () => {
    const listing = provider.listStoredSessions();
    await provider.loadSession('a', { projectDir });
    return listing;
  });

  expect(await loading).toHaveLength(1);

  expect(isRunning(reader.pid)).toBe(false);
  expect(provider.isAlive('a')).toBe(true);
});

test('a session that was not read lets the process that reads others be', async () => {
  const { another, control, projectDir } = await runAgent();
  await control.play({ sessions: [stored('a', projectDir), stored('b', projectDir)] });
  const provider = another();
  await provider.readStoredHistory('a', projectDir);
  const reader = await control.process();

  await provider.loadSession('b', { projectDir });

  expect(isRunning(reader.pid)).toBe(true);
});

test('INV-8: closing waits for a process that has been idle and is ending just now', async () => {
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
  // It is being ended, which takes longer than this: it ignores the end of its input.
  await delay(50);
  expect(isRunning(pid)).toBe(true);

  await stored.close();

  expect(isRunning(pid)).toBe(false);
});
