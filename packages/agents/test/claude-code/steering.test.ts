/** Messages to the real Claude Code during its turns. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { gate, reply, text, toolUse, type Reply } from '@liminal/testkit';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import {
  messagesOf,
  shareClaude,
  type ClaudeListener,
  type RunningClaude,
} from './running-claude.ts';

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const share = shareClaude();

/** Starts a turn that waits for permission to write a file. */
async function asking(...then: Reply[]) {
  const {
    first: _,
    listener,
    ...claude
  } = share(({ projectDir }) => [
    reply(toolUse('Write', { file_path: join(projectDir, 'a.txt'), content: 'a\n' })),
    ...then,
  ]);
  const { turnId } = await listener.send('Do it.');
  const asked = await listener.event(
    (payload) => payload.type === 'item_start' && payload.itemType === 'approval',
  );
  const { payload } = asked;
  const approvalId = payload.type === 'item_start' ? (payload.approvalId ?? '') : '';
  const allow = () =>
    claude.provider.answerApproval(listener.sessionId, approvalId, { optionId: 'allow_once' });
  return { claude, listener, turnId, allow };
}

const steer = async (
  { provider }: RunningClaude,
  { sessionId }: ClaudeListener,
  turnId: string,
  message: string,
  blocks: ContentBlock[] = [],
): Promise<string> => {
  const messageId = randomUUID();
  await provider.steer(sessionId, message, { turnId, messageId, blocks });
  return messageId;
};

const deliveries = (items: readonly OutputItem[]): unknown[] =>
  items.flatMap((item) =>
    item.type === 'message' && item.delivery !== undefined ? [[item.content, item.delivery]] : [],
  );

test('a message while a tool runs reaches the model in the same turn, and is shown once, live and in stored history', async () => {
  const { claude, listener, turnId, allow } = await asking(reply('With that.'), reply('Later.'));
  const block = { type: 'image', mimeType: 'image/png', data: pixel } as const;

  const messageId = await steer(claude, listener, turnId, 'And b.txt.', [block]);
  expect(deliveries(listener.response(turnId).outputItems)).toEqual([['And b.txt.', 'sent']]);
  await allow();

  const response = await listener.ended(turnId);
  expect(messagesOf(response)).toEqual(['user: Do it.', 'user: And b.txt.', 'agent: With that.']);
  expect(deliveries(response.outputItems)).toEqual([['And b.txt.', 'taken']]);
  expect(response.outputItems.find(({ id }) => id.includes(messageId))).toMatchObject({
    blocks: [block],
  });
  const told = JSON.stringify(claude.api.requests.at(-1)!.body);
  expect(told).toContain('And b.txt.');
  expect(told).toContain(pixel);
  expect(claude.api.requests).toHaveLength(2);

  const { sessionId } = listener;
  const { projectDir } = claude.workspace;
  const mark = await claude.provider.storedMark(sessionId, projectDir);
  const stored = await claude.provider.readStoredHistory(sessionId, projectDir);
  expect(stored.map((turn) => turn.turnId)).toEqual([turnId]);
  const items = stored[0]!.events.flatMap(({ payload }) =>
    payload.type === 'item_done' ? [payload.finalItem] : [],
  );
  expect(deliveries(items)).toEqual([['And b.txt.', 'taken']]);
  expect(items.map(({ id }) => id)).toContain(`${turnId}:said:${messageId}`);
  // All entries are from this server.
  expect(mark).toMatch(/^0:/);

  const next = await listener.ask('And now?');
  expect(messagesOf(next)).toEqual(['user: And now?', 'agent: Later.']);
});

test('a message during a turn without tools begins the next turn, and later messages wait for that turn', async () => {
  const held = gate();
  const { listener, ...claude } = share(() => [
    reply(text(['Half a sent', held, 'ence.'])),
    reply('To that.'),
    reply('To the next.'),
  ]);
  const { turnId } = await listener.send('Go.');
  await held.reached;

  const messageId = await steer(claude, listener, turnId, 'A word.');
  held.open();

  expect(messagesOf(await listener.ended(turnId))).toEqual([
    'user: Go.',
    'agent: Half a sentence.',
  ]);
  const next = listener.ask('The next.');
  const own = await listener.ended(messageId);
  expect(messagesOf(own)).toEqual(['user: A word.', 'agent: To that.']);
  expect(deliveries(own.outputItems)).toEqual([]);
  expect(messagesOf(await next)).toEqual(['user: The next.', 'agent: To the next.']);
});

test('messages that were unread when the turn was stopped are marked as not taken, and begin no turn', async () => {
  const { claude, listener, turnId } = await asking(reply('To that.'));
  await steer(claude, listener, turnId, 'Rather not.');
  await steer(claude, listener, turnId, 'And another.');

  await claude.provider.cancelTurn(listener.sessionId);

  const stopped = await listener.ended(turnId);
  expect(stopped.status).toBe('aborted');
  expect(deliveries(stopped.outputItems)).toEqual([
    ['Rather not.', 'not_taken'],
    ['And another.', 'not_taken'],
  ]);
  expect(messagesOf(await listener.ask('And now?'))).toEqual(['user: And now?', 'agent: To that.']);
  expect(JSON.stringify(claude.api.requests.at(-1)!.body)).not.toContain('Rather not.');
});

test('a message that was sent during a text, and was unread when the turn was stopped, begins no turn', async () => {
  const held = gate();
  const { listener, ...claude } = share(() => [
    reply(text(['Half a sent', held, 'ence.'])),
    reply('To that.'),
  ]);
  const { turnId } = await listener.send('Go.');
  await held.reached;
  await steer(claude, listener, turnId, 'A word.');

  await claude.provider.cancelTurn(listener.sessionId);

  expect(deliveries((await listener.ended(turnId)).outputItems)).toEqual([
    ['A word.', 'not_taken'],
  ]);
  expect(messagesOf(await listener.ask('And now?'))).toEqual(['user: And now?', 'agent: To that.']);
});

test('a message that was unread when the turn was stopped can be sent again, and files can be restored to their state before the message', async () => {
  const { claude, listener, turnId } = await asking(reply('To that.'));
  const { provider } = claude;
  const messageId = await steer(claude, listener, turnId, 'A word.');
  await provider.cancelTurn(listener.sessionId);
  await listener.ended(turnId);
  const { projectDir } = claude.workspace;
  const byOthers = async () =>
    (await provider.storedMark(listener.sessionId, projectDir))?.split(':')[0];
  const before = await byOthers();

  await provider.sendMessage(listener.sessionId, 'A word.', { turnId: messageId });

  expect(messagesOf(await listener.ended(messageId))).toEqual(['user: A word.', 'agent: To that.']);
  const nothing = { files: [], insertions: 0, deletions: 0 };
  expect(await provider.rewindFiles(listener.sessionId, messageId, true)).toEqual(nothing);
  expect(await byOthers()).toBe(before);
});

test('a message that was unread when the turn was stopped can be steered into another turn', async () => {
  const again = reply(toolUse('Bash', { command: 'touch b.txt' }));
  const { claude, listener, turnId } = await asking(again, reply('With that.'));
  const { provider } = claude;
  const { sessionId } = listener;
  const messageId = await steer(claude, listener, turnId, 'A word.');
  await provider.cancelTurn(sessionId);
  await listener.ended(turnId);
  const other = await listener.send('Do that.');
  const { payload } = await listener.event(
    (payload) => payload.type === 'item_start' && payload.itemType === 'approval',
    other.turnId,
  );

  await provider.steer(sessionId, 'A word.', { ...other, messageId, blocks: [] });
  const approvalId = payload.type === 'item_start' ? (payload.approvalId ?? '') : '';
  await provider.answerApproval(sessionId, approvalId, { optionId: 'allow_once' });

  const response = await listener.ended(other.turnId);
  expect(messagesOf(response)).toEqual(['user: Do that.', 'user: A word.', 'agent: With that.']);
  expect(deliveries(response.outputItems)).toEqual([['A word.', 'taken']]);
});

test('a message for a turn that is not running is refused with advice', async () => {
  const { listener, ...claude } = share(() => [reply('Done.')]);
  const refusal = {
    code: 'NOTHING_TO_STEER',
    message: expect.stringContaining('Send the text as'),
  };
  await expect(steer(claude, listener, randomUUID(), 'A word.')).rejects.toMatchObject(refusal);
  const { turnId } = await listener.ask('Go.');
  await expect(steer(claude, listener, turnId, 'A word.')).rejects.toMatchObject(refusal);
  expect(messagesOf(listener.response(turnId))).toEqual(['user: Go.', 'agent: Done.']);
});

test('a message that Claude Code had not begun to handle when Claude Code ended has a turn, which ends with Claude Code', async () => {
  const { claude, listener, turnId } = await asking();
  const messageId = await steer(claude, listener, turnId, 'A word.');

  await claude.provider.killSession(listener.sessionId);

  expect(messagesOf(await listener.ended(turnId))).toEqual(['user: Do it.']);
  const own = await listener.ended(messageId);
  expect([own.status, messagesOf(own)]).toEqual(['aborted', ['user: A word.']]);
});
