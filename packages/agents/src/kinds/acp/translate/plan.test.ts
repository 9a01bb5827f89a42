import { expect, test } from 'vitest';
import { foldTurn, itemsOf } from '../../../testing/folding.ts';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';

const plan = (entries: unknown[], more: object = {}) => ({
  sessionUpdate: 'plan',
  entries,
  ...more,
});
const plansOf = (...updates: unknown[]) =>
  itemsOf(foldTurn(recordTurn(updates).drafts, 'turn'), 'plan');

const look = { content: 'Look', priority: 'high', status: 'completed' };
const leap = { content: 'Leap', priority: 'medium', status: 'pending' };

test('a plan is one item, with its newest entries', () => {
  expect(plansOf(plan([look]), plan([look, leap]))).toMatchObject([
    { id: 'turn:plan', entries: [look, leap] },
  ]);
});

test('a plan’s entry that has only a text is pending, with medium priority', () => {
  expect(plansOf(plan([{ content: 'Leap' }]))).toMatchObject([{ entries: [leap] }]);
});

test('a plan without entries is not shown', () => {
  expect(plansOf(plan([]))).toEqual([]);
  expect(plansOf({ sessionUpdate: 'plan' })).toEqual([]);
});

test('a plan’s entry without a text, or with unknown fields, is kept unchanged', () => {
  const odd = [{ status: 'pending' }, { ...leap, beam: 1 }];
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'make', status: 'completed' };
  const response = foldTurn(recordTurn([plan([look, ...odd]), call]).drafts, 'turn');
  expect(itemsOf(response, 'plan')).toMatchObject([{ entries: [look, leap] }]);
  // The value is kept with the next item that ends.
  expect(itemsOf(response, 'function_call')).toMatchObject([{ raw: odd }]);
});

test('a plan starts one item per turn', () => {
  const { drafts } = recordTurn([plan([look]), plan([look, leap])]);
  const starts = drafts.filter(
    ({ payload }) => 'itemType' in payload && payload.itemType === 'plan',
  );
  expect(starts).toHaveLength(1);
});

test('a plan that is repeated in a later turn is shown only after it has changed', () => {
  const { translator, send, drafts } = startTranslator();
  const entries = [look, leap];
  for (const turnId of ['one', 'two', 'three']) {
    translator.begin(turnId, 'Go on.', timestamp);
    send(plan(entries), plan(entries));
    translator.finish({ stopReason: 'end_turn' }, timestamp);
  }
  translator.begin('four', 'Go on.', timestamp);
  send(plan(entries), plan([look]));
  translator.finish({ stopReason: 'end_turn' }, timestamp);

  const plansIn = (turnId: string) =>
    itemsOf(
      foldTurn(
        drafts.filter((draft) => draft.turnId === turnId),
        turnId,
      ),
      'plan',
    );
  expect(plansIn('one')).toMatchObject([{ entries }]);
  expect(plansIn('two')).toEqual([]);
  expect(plansIn('three')).toEqual([]);
  expect(plansIn('four')).toMatchObject([{ entries: [look] }]);
});
