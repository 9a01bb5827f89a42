/** How the real Codex handles steered messages, and the reason for a refusal. */
import { randomUUID } from 'node:crypto';
import { answer, execCommand, gate, message, pixel, type ModelReply } from '@liminal/testkit';
import type { ContentBlock } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { itemsOf } from '../../src/testing/folding.ts';
import { messagesOf, type Listener } from '../acp/running-agent.ts';
import { sharedCodex, type CodexProvider } from './running-codex.ts';

const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: pixel };

/** Codex asks before it runs a command outside of the sandbox. */
const asking = { approvalPolicy: 'on-request', sandbox: 'read-only' } as const;

const share = sharedCodex({ codex: asking });

/** Begins a turn that waits for permission to run a command. */
async function askingTurn(...then: ModelReply[]) {
  const running = await share(() => [
    answer(execCommand('touch one.txt', { escalate: 'It must be made.' })),
    ...then,
  ]);
  const listener = await running.create();
  const turnId = await listener.send('Make it.');
  return { ...running, listener, turnId, asked: await listener.asked(turnId) };
}

async function steer(
  provider: CodexProvider,
  { sessionId }: Listener,
  turnId: string,
  words: string,
  blocks: ContentBlock[] = [],
): Promise<string> {
  const messageId = randomUUID();
  await provider.steer(sessionId, words, { turnId, messageId, blocks });
  return messageId;
}

const deliveries = (response: Parameters<typeof itemsOf>[0]): unknown[] =>
  itemsOf(response, 'message').flatMap(({ content, delivery }) =>
    delivery === undefined ? [] : [[content, delivery]],
  );

test('a message that is sent while Codex waits for permission reaches the model in the same turn, and is shown once', async () => {
  const { api, asked, listener, provider, turnId } = await askingTurn(answer('With that.'));

  const messageId = await steer(provider, listener, turnId, 'And two.txt.', [image]);
  await asked.answer('accept');

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toEqual([
    'user: Make it.',
    'user: And two.txt.',
    'agent: With that.',
  ]);
  expect(deliveries(response)).toEqual([['And two.txt.', 'taken']]);
  expect(itemsOf(response, 'message')[1]).toMatchObject({
    id: `${turnId}:said:${messageId}`,
    blocks: [image],
  });
  const told = JSON.stringify(api.requests.at(-1)?.body.input);
  expect(told).toContain('And two.txt.');
  expect(told).toContain(pixel);
});

test('the stored conversation has a steered message once, in its turn', async () => {
  const { asked, listener, provider, turnId, workspace } = await askingTurn(answer('With that.'));
  const messageId = await steer(provider, listener, turnId, 'And two.txt.', [image]);
  await asked.answer('accept');
  await listener.response(turnId);

  const id = await listener.agentSessionId();
  const stored = await provider.readStoredHistory(id, workspace.projectDir);

  expect(stored.map((turn) => turn.turnId)).toEqual([turnId]);
  const items = stored[0]!.events.flatMap(({ payload }) =>
    payload.type === 'item_done' ? [payload.finalItem] : [],
  );
  expect(items.filter((item) => item.type === 'message' && item.origin === 'user')).toMatchObject([
    { content: 'Make it.' },
    {
      id: `${turnId}:said:${messageId}`,
      content: 'And two.txt.',
      delivery: 'taken',
      blocks: [image],
    },
  ]);
});

test('a message during a text interrupts the text, and the part that was sent stays', async () => {
  const held = gate();
  const { create, provider } = await share(() => [
    answer(message(['Half a sent', held, 'ence.'])),
    answer('To that.'),
  ]);
  const listener = await create();
  const turnId = await listener.send('Go.');
  await held.reached;
  await listener.until(() =>
    listener.of(turnId).find(({ payload }) => payload.type === 'item_delta'),
  );

  await steer(provider, listener, turnId, 'A word.');
  held.open();

  const response = await listener.response(turnId);
  const all = messagesOf(response);
  expect(all).toContain('user: A word.');
  expect(all.at(-1)).toBe('agent: To that.');
  expect(all.join()).toContain('agent: Half a sent');
  expect(deliveries(response)).toEqual([['A word.', 'taken']]);
});

test('a message that Codex had not handled when the turn was stopped is marked, and is not sent later', async () => {
  const { api, listener, provider, turnId } = await askingTurn(answer('Something else.'));
  await steer(provider, listener, turnId, 'A word.');

  await provider.cancelTurn(listener.sessionId);

  expect(deliveries(await listener.response(turnId))).toEqual([['A word.', 'not_taken']]);
  const next = await listener.ask('And now?');
  expect(messagesOf(next)).toEqual(['user: And now?', 'agent: Something else.']);
  expect(JSON.stringify(api.requests.at(-1)?.body.input)).not.toContain('A word.');
});

test('a message for a turn that does not run, or accepts no messages, is rejected with advice', async () => {
  const held = gate();
  const { create, provider } = await share(() => [
    answer('Done.'),
    answer(message(['A long ', held, 'summary.'])),
  ]);
  const listener = await create();
  const refusal = {
    code: 'NOTHING_TO_STEER',
    message: expect.stringContaining('Send the text as'),
  };
  await expect(steer(provider, listener, randomUUID(), 'A word.')).rejects.toMatchObject(refusal);
  const { turnId } = await listener.ask('Go.');
  await expect(steer(provider, listener, turnId, 'A word.')).rejects.toMatchObject(refusal);

  const compacting = await listener.send('/compact');
  await held.reached;
  await expect(steer(provider, listener, compacting, 'A word.')).rejects.toMatchObject(refusal);
  held.open();
  expect(deliveries(await listener.response(compacting))).toEqual([]);
});

test('the reason for a refusal reaches the model, and is shown only with the request', async () => {
  const { api, asked, listener, turnId } = await askingTurn(answer('Then two.txt.'));
  expect(asked.options?.filter((option) => option.takesNote).map(({ kind }) => kind)).toEqual([
    'reject_once',
  ]);
  const note = 'Call it two.txt,\nnot “one”.';

  await asked.answer('decline', { note });

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toEqual(['user: Make it.', 'agent: Then two.txt.']);
  expect(itemsOf(response, 'approval')).toMatchObject([
    { outcome: { outcome: 'selected', optionId: 'decline', note } },
  ]);
  const last = api.requests.at(-1)?.body.input;
  expect(JSON.stringify(last)).toContain(
    JSON.stringify(`The user refused this, and says: ${note}`).slice(1, -1),
  );
  expect(api.requests).toHaveLength(2);
});
