import type { UpsertObject } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { findItem } from './find-item.ts';
import { approval, text, tool } from './testing/items.ts';

const turn = (turnId: string, items: UpsertObject[]) =>
  ({ turnId, status: 'complete', items }) as const;

const turns = [
  turn('t1', [text('m1')]),
  turn('t2', [
    tool('c1', { itemId: 'c1' }),
    tool('c2', { itemId: 'c2', parentCallId: 'c1' }),
    text('m2', { parentCallId: 'c2' }),
    approval('p1', { callId: 'c2' }),
  ]),
];

it('an item is found with the calls that it happened below', () => {
  expect(findItem(turns, 'm1')).toEqual({ turnId: 't1', path: ['m1'] });
  expect(findItem(turns, 'm2')?.path).toEqual(['c1', 'c2', 'm2']);
  expect(findItem(turns, 'p1')?.path).toEqual(['c1', 'c2', 'p1']);
  expect(findItem(turns, 'unknown')).toBeUndefined();
});

it('a call is found by its own id, too', () => {
  const renamed = [turn('t', [tool('c1', { itemId: 'item-9' })])];
  expect(findItem(renamed, 'c1')).toEqual({ turnId: 't', path: ['item-9'] });
});

it('calls that name each other as parents end somewhere', () => {
  const circle = [
    turn('t', [
      tool('a', { itemId: 'a', parentCallId: 'b' }),
      tool('b', { itemId: 'b', parentCallId: 'a' }),
    ]),
  ];
  expect(findItem(circle, 'a')?.path).toEqual(['b', 'a']);
});
