import { expect, test } from 'vitest';
import type { OutputItem } from '../items.ts';
import { orderedIds, pairableIds, noItems, putItem, removeItem } from './item-list.ts';

const call = (id: string, callId = 'one'): OutputItem => ({
  id,
  type: 'function_call',
  name: 'Read',
  callId,
  arguments: '{}',
  origin: 'agent',
});
const output = (id: string, callId = 'one'): OutputItem => ({
  id,
  type: 'function_call_output',
  callId,
  output: '',
  success: true,
  origin: 'system',
});
const message: OutputItem = { id: 'm', type: 'message', content: '', origin: 'agent' };
const listOf = (...items: OutputItem[]) => items.reduce(putItem, noItems);

test('kin are the calls and answers with one call id, in order of start', () => {
  const list = listOf(call('a'), message, call('x', 'two'), output('b'), call('c'));
  for (const id of ['a', 'b', 'c']) expect(pairableIds(list, id)).toEqual(['a', 'b', 'c']);
  expect(pairableIds(list, 'x')).toEqual(['x']);
});

test('an item that cannot be paired has only itself as kin, and an unknown item has no kin', () => {
  const list = listOf(message);
  expect(pairableIds(list, 'm')).toEqual(['m']);
  expect(pairableIds(list, 'n')).toEqual([]);
});

test('an item that is put again keeps its position in the order, in the same family or in another family', () => {
  const list = listOf(call('a'), call('b'), output('c'));
  expect(pairableIds(putItem(list, call('a')), 'b')).toEqual(['a', 'b', 'c']);
  const moved = putItem(list, call('a', 'two'));
  expect([pairableIds(moved, 'a'), pairableIds(moved, 'b')]).toEqual([['a'], ['b', 'c']]);
  const ended = putItem(list, { ...message, id: 'b' });
  expect([pairableIds(ended, 'a'), pairableIds(ended, 'b')]).toEqual([['a', 'c'], ['b']]);
  expect(orderedIds(moved, ['c', 'b', 'a'])).toEqual(['a', 'b', 'c']);
});

test('a withdrawn item is no longer kin of other items, and can be added again', () => {
  const list = removeItem(listOf(call('a'), output('b')), 'a');
  expect(pairableIds(list, 'a')).toEqual([]);
  expect(pairableIds(list, 'b')).toEqual(['b']);
  expect(pairableIds(putItem(list, call('a')), 'a')).toEqual(['b', 'a']);
  const empty = removeItem(list, 'b');
  expect(empty.parts.size).toBe(0);
  expect(pairableIds(putItem(empty, call('c')), 'c')).toEqual(['c']);
});

test('of many items with one id, only items near each other are kin', () => {
  const ids = Array.from({ length: 200 }, (_, index) => `i${index}`);
  const list = listOf(...ids.map((id) => call(id)));
  for (const [place, id] of ids.entries()) {
    const kin = pairableIds(list, id);
    const first = ids.indexOf(kin[0] ?? '');
    expect(kin).toEqual(ids.slice(first, first + kin.length));
    expect(kin.length).toBeLessThanOrEqual(96);
    // The kin include at least the items up to this distance on both sides, or up to the first or last item.
    expect(first).toBeLessThanOrEqual(Math.max(0, place - 32));
    expect(first + kin.length).toBeGreaterThanOrEqual(Math.min(200, place + 9));
  }
});

test('inOrder returns the existing ids in order of start', () => {
  const list = listOf(call('b'), message, call('a'));
  expect(orderedIds(list, new Set(['a', 'none', 'm', 'b']))).toEqual(['b', 'm', 'a']);
});
