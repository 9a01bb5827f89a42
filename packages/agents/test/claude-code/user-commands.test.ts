/** Users' own commands (`!ls`) with the real Claude Code. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude, messagesOf } from './running-claude.ts';

test('a message that begins with ! is run as a command, and its output reaches the model with the next message', async () => {
  const claude = await runClaude(() => [reply('I see.')], { files: { 'a.txt': 'a\n' } });
  const listener = await claude.create();

  const response = await listener.ask('!ls; echo two >&2; false');

  expect(response).toMatchObject({ status: 'complete', trigger: 'user' });
  expect(response.outputItems).toMatchObject([
    { type: 'message', content: '!ls; echo two >&2; false', origin: 'user' },
    { type: 'function_call', kind: 'execute', title: 'Run ls; echo two >&2; false' },
    { type: 'function_call_output', output: 'a.txt\ntwo\n', success: false, exitCode: 1 },
  ]);
  expect(claude.api.requests).toEqual([]);

  expect(messagesOf(await listener.ask('Well?'))).toContain('agent: I see.');
  const asked = JSON.stringify(claude.api.requests[0]?.body.messages);
  expect(asked).toContain('<bash-input>ls; echo two >&2; false</bash-input>');
  expect(asked).toContain('<bash-stdout>a.txt\\ntwo\\n</bash-stdout>');
  const stored = await claude.provider.readStoredHistory(
    listener.sessionId,
    claude.workspace.projectDir,
  );
  expect(stored.map(({ turnId }) => turnId)).toEqual([response.turnId, expect.any(String)]);
});

test('a command’s output is not read as a mention or a command', async () => {
  const claude = await runClaude(() => [reply('I see.')], { files: { 'a.txt': 'the inside\n' } });
  const listener = await claude.create();
  await listener.ask('!echo @a.txt; echo /compact');
  await listener.ask('Well?');
  const asked = JSON.stringify(claude.api.requests[0]?.body.messages);
  expect(asked).toContain('@a.txt');
  expect(asked).not.toContain('the inside');
});

test('a stop ends a user’s command and all its descendants, and the session accepts the next message', async () => {
  const claude = await runClaude(() => [reply('Back.')]);
  const listener = await claude.create();
  const { turnId } = await listener.send('!echo begun; (sleep 600; touch late) & sleep 600');
  await listener.event(
    (payload) => payload.type === 'item_delta' && payload.deltaContent.includes('begun'),
    turnId,
  );

  await claude.provider.cancelTurn(listener.sessionId);

  const response = await listener.ended(turnId);
  expect(response.status).toBe('aborted');
  expect(response.outputItems.at(-1)).toMatchObject({
    type: 'function_call_output',
    output: 'begun\n\n(It was stopped.)',
    success: false,
  });
  expect(messagesOf(await listener.ask('Well then.'))).toContain('agent: Back.');
});

test('ending a session ends its user’s command', async () => {
  const claude = await runClaude(() => []);
  const listener = await claude.create();
  const { turnId } = await listener.send('!echo begun; sleep 600');
  await listener.event(
    (payload) => payload.type === 'item_delta' && payload.deltaContent.includes('begun'),
    turnId,
  );
  await claude.provider.killSession(listener.sessionId);
  expect((await listener.ended(turnId)).status).toBe('aborted');
});

test('with userCommands off, a command is neither run nor sent', async () => {
  const claude = await runClaude(() => [], { provider: { userCommands: false } });
  const listener = await claude.create();
  const response = await listener.ask('!touch made');
  expect(messagesOf(response).at(-1)).toContain('does not run people’s commands');
  expect(existsSync(join(claude.workspace.projectDir, 'made'))).toBe(false);
  expect(claude.api.requests).toEqual([]);
});
