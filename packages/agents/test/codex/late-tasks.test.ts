/** Tasks that Codex tells of after their turn: a real one does so only by chance. */
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

test('INV-8: a task of a stopped turn that begins to work later is stopped, too', async () => {
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

test('INV-8: a task that works on after its turn goes on, and is closed with its session', async () => {
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
  'SAFE: what a task and a command said after their turn is told when their session %s',
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

test.each(ending)('a session with nothing left to tell %s without another turn', async (how) => {
  const { session, turn, drafts, gone } = await runningTurn();
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });
  await (how === 'is closed' ? session.close() : gone());
  expect(turnIdsOf(drafts)).toEqual(['turn-1']);
});

test('SAFE: much that tasks say between turns is told as soon as it is much', async () => {
  const { session, say, heard, turn, drafts } = await runningTurn();
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });
  turn('turn/started', 'task', { id: 'second', rootTurnId: 'first' });
  const texts = [0.7, 0.2, 5, 0.7].map((size) => 'long '.repeat((size * 1024 * 1024) / 5));
  const tell = (text: string, id: number) =>
    say('item/completed', 'task', { item: { type: 'agentMessage', id: `words ${id}`, text } });
  const toldIn = (turnId: string) =>
    itemsOf(foldTurn(drafts, turnId), 'message').map(({ content }) => content.length);

  for (const [at, text] of texts.entries()) {
    tell(text, at);
    await heard();
  }
  await session.close();

  const [, much = '', rest = ''] = turnIdsOf(drafts);
  expect(toldIn(much)).toEqual(texts.slice(0, 3).map(({ length }) => length));
  expect(toldIn(rest)).toEqual([texts[3]?.length]);
});
