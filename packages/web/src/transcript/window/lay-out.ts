import type { JoinedTurn } from '@liminal/client';
import type { RowRange } from './row-range.ts';
import { indexOfKey } from './row-range.ts';
import type { TurnRow } from './turn-rows.ts';

/** A gap (px) that replaces rows that are not in the page. */
export interface Gap {
  kind: 'gap';
  /** The key of the first row after the gap. */
  key: string;
  height: number;
}

/** A turn, with those of its rows that are in the page. */
export interface DrawnTurn {
  kind: 'turn';
  turn: JoinedTurn;
  parts: readonly (TurnRow | Gap)[];
}

/** Returns the page from top to bottom: the drawn rows in their turns, and gaps that replace the other rows. */
export function layOut(
  rows: readonly TurnRow[],
  span: RowRange,
  held: readonly string[],
  tops: Float64Array,
): (DrawnTurn | Gap)[] {
  const blocks: (DrawnTurn | Gap)[] = [];
  let parts: (TurnRow | Gap)[] = [];
  let reached = 0;
  for (const index of drawnIndexes(rows, span, held)) {
    const row = rows[index] as TurnRow;
    const open = blocks.at(-1);
    const isOpen = open?.kind === 'turn' && open.turn === row.turn;
    if (index > reached) {
      const gap = gapBefore(row.key, tops, reached, index);
      if (isOpen) parts.push(gap);
      else blocks.push(gap);
    }
    if (!isOpen) {
      parts = [];
      blocks.push({ kind: 'turn', turn: row.turn, parts });
    }
    parts.push(row);
    reached = index + 1;
  }
  if (reached < rows.length) blocks.push(gapBefore('end', tops, reached, rows.length));
  return blocks;
}

function gapBefore(key: string, tops: Float64Array, from: number, to: number): Gap {
  return { kind: 'gap', key: `gap ${key}`, height: (tops[to] ?? 0) - (tops[from] ?? 0) };
}

function drawnIndexes(rows: readonly TurnRow[], span: RowRange, held: readonly string[]): number[] {
  const to = Math.min(span.to, rows.length);
  const within = Array.from({ length: to - span.from }, (_, offset) => span.from + offset);
  const beyond = held
    .map((key) => indexOfKey(rows, key))
    .filter((index) => index >= 0 && (index < span.from || index >= to));
  if (beyond.length === 0) return within;
  return [...new Set([...beyond, ...within])].toSorted((a, b) => a - b);
}
