/** Tasks that a scripted Codex reports after their turn; the real Codex does so only by chance. */
import { setImmediate as settled } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  brokenRules,
  foldTurn,
  itemsOf,
  payloadsOf,
  turnIdsOf,
} from '../../src/testing/folding.ts';
import { runningTurn } from './silent-codex.ts';

test('INV-8: a task of a stopped turn that begins to work later is also stopped', async () => {
  const { session, turn, requests } = await runningTurn();
  await session.cancel();
  turn('turn/completed', 'own', { id: 'first', status: 'interrupted' });

  turn('turn/started', 'task', { id: 'second', rootTurnId: 'first' });
  await settled();

  expect(requests().slice(-2)).toEqual([
    ['turn/interrupt', 'task', 'second'],
    ['thread/backgroundTerminals/clean', 'task', undefined],
  ]);
});

test('INV-8: a task that outlives its turn keeps running, and is closed with its session', async () => {
  const { session, turn, requests, left } = await runningTurn();
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });

  turn('turn/started', 'task', { id: 'second', rootTurnId: 'first' });
  turn('turn/started', 'of somebody else', { id: 'third', rootTurnId: 'other' });
  await settled();

  expect(requests().filter(([method]) => method === 'turn/interrupt')).toEqual([]);
  await session.close();
  expect(left).toEqual([
    { threadId: 'own', turnId: undefined },
    { threadId: 'task', turnId: 'second' },
  ]);
});

const ending = [
  ['is closed', { status: 'aborted', finishReason: 'killed' }],
  ['loses its process', { status: 'error', error: { code: 'PROCESS_CRASH' } }],
] as const;

test.each(ending)(
  'SAFE: items of a task and a command after their turn are shown when their session %s',
  async (how, end) => {
    const { session, say, turn, drafts, gone } = await runningTurn();
    const command = { type: 'commandExecution', id: 'run', command: 'make', processId: '7' };
    say('item/started', 'own', { item: { ...command, status: 'inProgress' } });
    turn('turn/completed', 'own', { id: 'first', status: 'completed' });
    turn('turn/started', 'task', { id: 'second', rootTurnId: 'first' });
    const counted = { type: 'agentMessage', id: 'words', text: 'I have counted to three.' };
    say('item/completed', 'task', { item: counted });
    const printed = { aggregatedOutput: 'made\n', exitCode: 0, status: 'completed' };
    say('item/completed', 'own', { item: { ...command, ...printed } });
    expect(turnIdsOf(drafts)).toEqual(['turn-1']);

    await (how === 'is closed' ? session.close() : gone());

    const [, late = ''] = turnIdsOf(drafts);
    expect(brokenRules(payloadsOf(drafts, late))).toEqual([]);
    const response = foldTurn(drafts, late);
    expect(response).toMatchObject(end);
    expect(itemsOf(response, 'message').map(({ content }) => content)).toContain(counted.text);
    const outputs = itemsOf(response, 'function_call_output').map(({ output }) => output);
    expect(outputs).toContain('made\n');
  },
);

test.each(ending)('a session without waiting items %s without another turn', async (how) => {
  const { session, turn, drafts, gone } = await runningTurn();
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });
  await (how === 'is closed' ? session.close() : gone());
  expect(turnIdsOf(drafts)).toEqual(['turn-1']);
});

test('SAFE: items of tasks between turns are shown as soon as they exceed the limit', async () => {
  const { session, say, lineRead, turn, drafts } = await runningTurn();
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });
  turn('turn/started', 'task', { id: 'second', rootTurnId: 'first' });
  const texts = [0.7, 0.2, 5, 0.7].map((size) => 'long '.repeat((size * 1024 * 1024) / 5));
  const complete = (text: string, id: number) =>
    say('item/completed', 'task', { item: { type: 'agentMessage', id: `words ${id}`, text } });
  const sizesIn = (turnId: string) =>
    itemsOf(foldTurn(drafts, turnId), 'message').map(({ content }) => content.length);

  for (const [at, text] of texts.entries()) {
    complete(text, at);
    await lineRead();
  }
  await session.close();

  const [, much = '', rest = ''] = turnIdsOf(drafts);
  expect(sizesIn(much)).toEqual(texts.slice(0, 3).map(({ length }) => length));
  expect(sizesIn(rest)).toEqual([texts[3]?.length]);
});
