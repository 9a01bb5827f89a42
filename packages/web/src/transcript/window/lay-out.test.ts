import type { TurnView } from '@liminal/client';
import { expect, it } from 'vitest';
import { text, tool } from '../testing/items.ts';
import { Heights, rowAt } from './heights.ts';
import { layOut } from './lay-out.ts';
import { findItemRow, toRows } from './turn-rows.ts';

const turn = (turnId: string, items: TurnView['items']): TurnView => ({
  turnId,
  status: 'complete',
  items,
});
const turns = [turn('t1', [text('a'), text('b')]), turn('t2', [text('c'), text('d'), text('e')])];
const rows = toRows(turns);
const heights = new Heights();
for (const { key } of rows) heights.measure(key, 10);
const tops = heights.tops(rows);

/** Returns the layout in short form: `t1(a b)` for a turn with its rows, `-20-` for a gap. */
const shape = (from: number, to: number, held: string[] = []) =>
  layOut(rows, { from, to }, held, tops)
    .map((block) =>
      block.kind === 'gap'
        ? `-${block.height}-`
        : `${block.turn.turnId}(${block.parts
            .map((part) => ('kind' in part ? `-${part.height}-` : part.key.split(' ')[1]))
            .join(' ')})`,
    )
    .join(' ');

it('every row is in its turn, and the turn’s end follows the rows', () => {
  expect(shape(0, 7)).toBe('t1(a b end) t2(c d e end)');
});

it('rows that are not drawn become a gap, which is outside of turns if possible', () => {
  expect(shape(1, 5)).toBe('-10- t1(b end) t2(c d) -20-');
  expect(shape(4, 5)).toBe('-40- t2(d) -20-');
});

it('a held row stays at its position, with gaps before and after it', () => {
  expect(shape(6, 7, ['t1 a'])).toBe('t1(a) -50- t2(end)');
  expect(shape(6, 7, ['t2 c', 't2 e'])).toBe('-30- t2(c -10- e end)');
});

it('if a turn did not change, its rows are the same objects', () => {
  expect(toRows([turns[0]!, turn('t3', [])])[0]).toBe(rows[0]);
});

it('a position belongs to the row that covers it; a position beyond the ends belongs to the nearest row', () => {
  expect([-5, 0, 9, 10, 65, 500].map((place) => rowAt(tops, place))).toEqual([0, 0, 0, 1, 6, 6]);
});

it('an item is found in the row in which it is folded', () => {
  const folded = toRows([
    turn('t', [
      text('a'),
      tool('agent'),
      tool('r1', { kind: 'read', parentCallId: 'agent' }),
      tool('r2', { kind: 'read', parentCallId: 'agent' }),
    ]),
  ]);
  expect(findItemRow(folded, 'item-r2')).toEqual({
    index: 1,
    within: ['item-agent', 'reads-item-r1'],
  });
  expect(findItemRow(folded, 'nobody')).toBeUndefined();
});
