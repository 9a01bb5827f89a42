import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gate, reply, text, toolUse } from '@liminal/testkit';
import { expect, test, vi } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { ClaudeDriver } from '../../src/kinds/claude-code/index.ts';
import { claudePid, processesOf, tails } from './processes.ts';
import { runClaude, messagesOf, shareClaude, type ClaudeListener } from './running-claude.ts';

const share = shareClaude({ files: { 'notes.txt': '' } });

const apiEnvironment = (home: string, url: string): Record<string, string> => ({
  HOME: home,
  TMPDIR: home,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'scripted',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
});

test('TC-3.1a: creating a session starts a process that keeps running; before its first message, the session can be restarted', async () => {
  const { first, listener, provider } = share(() => [reply('Hello.')]);
  expect(provider.isAlive(first.sessionId)).toBe(true);
  expect(claudePid(first.sessionId)).toBeGreaterThan(0);
  const update = await first.until(() => first.updates.find((one) => one.commands !== undefined));
  expect(update.commands?.map((command) => command.name)).toContain('compact');

  await provider.killSession(listener.sessionId);
  await provider.loadSession(listener.sessionId);
  expect(messagesOf(await listener.ask('Hi.'))).toEqual(['user: Hi.', 'agent: Hello.']);
});

test('FR-002-02, TC-3.2c: a crash ends the turn at once as an error that keeps its messages, and ends Claude Code’s child processes; later sends fail; the next process reports that the child processes ended', async () => {
  const held = gate();
  const { listener, provider, workspace } = share(() => [
    reply(toolUse('Bash', { command: 'tail -f notes.txt', run_in_background: true })),
    reply('It runs.'),
    reply(text(['So far so ', held, 'good.'])),
    reply('Back again.'),
  ]);
  await listener.ask('Follow it.');
  await vi.waitFor(() => expect(tails(workspace.projectDir)).toHaveLength(1), { timeout: 30_000 });
  const { turnId } = await listener.send('Talk.');
  await listener.event(({ type }) => type === 'item_delta', turnId);
  process.kill(claudePid(listener.sessionId), 'SIGKILL');
  const response = await listener.ended(turnId);
  expect(response).toMatchObject({ status: 'error', error: { code: 'PROCESS_CRASH' } });
  expect(messagesOf(response)).toEqual(['user: Talk.', 'agent: So far so ']);
  expect(provider.isAlive(listener.sessionId)).toBe(false);
  expect(listener.exits).toMatchObject([{ expected: false, code: 'PROCESS_CRASH' }]);
  await expect(listener.send('Still there?')).rejects.toMatchObject({ code: 'PROCESS_CRASH' });
  held.open();
  await provider.killSession(listener.sessionId);
  expect(processesOf(workspace.projectDir)).toEqual([]);

  await provider.loadSession(listener.sessionId);
  expect(messagesOf(await listener.ask('And now?'))).toEqual([
    'user: And now?',
    "system: Background shell command didn't finish before the previous session ended",
    'agent: Back again.',
  ]);
});

test('NFR-000-06, TC-3.4b, TC-3.4c: killing a session ends the process and all its descendants', async () => {
  const { listener, provider, workspace } = share(() => [
    reply(toolUse('Bash', { command: 'setsid tail -f notes.txt & tail -f notes.txt' })),
  ]);
  expect(provider.isAlive(listener.sessionId)).toBe(true);
  const { turnId } = await listener.send('Follow it.');
  const { payload } = await listener.event(
    ({ type }) => type === 'item_start' || type === 'response_done',
  );
  expect(payload.type).toBe('item_start');
  await answerFirstApproval(listener, provider);
  await vi.waitFor(() => expect(tails(workspace.projectDir)).toHaveLength(2), { timeout: 30_000 });

  await provider.killSession(listener.sessionId);
  expect(provider.isAlive(listener.sessionId)).toBe(false);
  expect(listener.response(turnId).status).toBe('aborted');
  expect(processesOf(workspace.projectDir)).toEqual([]);
  expect(listener.exits).toEqual([{ expected: true }]);
  await provider.killSession(listener.sessionId);
});

async function answerFirstApproval(
  listener: ClaudeListener,
  provider: DriverProvider<ClaudeDriver>,
): Promise<void> {
  const { payload } = await listener.event(
    (one) => one.type === 'item_start' && one.itemType === 'approval',
  );
  if (payload.type === 'item_start') {
    await provider.answerApproval(listener.sessionId, payload.approvalId!, {
      optionId: 'allow_once',
    });
  }
}

test('TC-3.1c: a failed start is reported with its reason, and no process is left', async () => {
  const { first, workspace } = share(() => []);
  const other = new DriverProvider(
    new ClaudeDriver({
      env: { ...process.env, ...apiEnvironment(workspace.home, 'http://127.0.0.1:1') },
    }),
  );
  // The session's id is already stored, so the start fails.
  const options = { projectDir: workspace.projectDir, sessionId: first.sessionId };
  await expect(other.createSession(options)).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
  });
  expect(other.isAlive(first.sessionId)).toBe(false);
  expect(processesOf(workspace.projectDir)).toEqual([]);
});

test('TC-3.1b: another provider can load a session and continue its conversation', async () => {
  const { first, provider, workspace, api } = share(() => [reply('It was 42.')]);
  await provider.close();

  const { sessionId } = first;
  const again = new DriverProvider(
    new ClaudeDriver({
      env: { ...process.env, ...apiEnvironment(workspace.home, api.url) },
    }),
  );
  try {
    expect(await again.loadSession(sessionId)).toEqual({ sessionId, cliType: 'claude-code' });
    const { turnId } = await again.sendMessage(sessionId, 'What was it?');
    expect(turnId).not.toBe('');
    const request = await api.request(({ prompt }) => prompt.endsWith('What was it?'));
    expect(JSON.stringify(request.body.messages)).toContain('Back again.');
  } finally {
    await again.close();
  }
});

test('TC-3.1c: the error about a missing folder, or a file in its place, names the folder, and no process is left', async () => {
  const { provider, workspace } = await runClaude(() => []);
  const missing = join(workspace.projectDir, 'missing');
  const file = join(workspace.projectDir, 'file');
  writeFileSync(file, '');
  await expect(provider.createSession({ projectDir: missing })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: `The project folder ${missing} does not exist.`,
  });
  await expect(provider.createSession({ projectDir: file })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: `The project folder ${file} is not a folder.`,
  });
  expect(processesOf(workspace.projectDir)).toEqual([]);
});

test('FR-002-04: an unknown session cannot be loaded or written to', async () => {
  const { provider, workspace } = await runClaude(() => []);
  const id = randomUUID();
  const notFound = { code: 'SESSION_NOT_FOUND' };
  await expect(provider.loadSession(id)).rejects.toMatchObject(notFound);
  await expect(
    provider.loadSession(id, { projectDir: workspace.projectDir }),
  ).rejects.toMatchObject(notFound);
  await expect(provider.sendMessage(id, 'Hi.')).rejects.toMatchObject(notFound);
  await expect(provider.cancelTurn(id)).rejects.toMatchObject(notFound);
  await expect(provider.killSession(id)).rejects.toMatchObject(notFound);
  expect(provider.isAlive(id)).toBe(false);
});

test('the description contains whether Claude Code can run and whether it is signed in', async () => {
  const signedIn = new DriverProvider(new ClaudeDriver({ env: { ANTHROPIC_API_KEY: 'x' } }));
  expect(await signedIn.describe()).toMatchObject({
    cliType: 'claude-code',
    available: true,
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
  const { workspace } = await runClaude(() => []);
  const signedOut = new DriverProvider(new ClaudeDriver({ env: { HOME: workspace.home } }));
  const { available, reason } = await signedOut.describe();
  expect(available).toBe(true);
  const command = /Run `([^`]*)` in a terminal/.exec(reason ?? '')?.[1] ?? '';
  // The advice fits whether or not the program is on the search path.
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --version`]);
  expect(stdout).toMatch(/Claude Code/);
  mkdirSync(join(workspace.home, '.claude'), { recursive: true });
  writeFileSync(join(workspace.home, '.claude', '.credentials.json'), '{}');
  expect(await signedOut.describe()).not.toHaveProperty('reason');
});
