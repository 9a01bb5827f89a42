import type { JoinedTurn } from '@liminal/client';
import { arrange, type Row } from '../arrange.ts';

/** One row of the whole conversation: a row of a turn, or the line that shows the turn's end. */
export interface TurnRow {
  /** The row's key, unique in the whole conversation. */
  key: string;
  turn: JoinedTurn;
  /** The row; absent for the line of a turn's end. */
  row?: Row;
}

const made = new WeakMap<JoinedTurn, readonly TurnRow[]>();

/**
 * Returns all rows of a conversation in one list, from top to bottom. The rows of an unchanged turn are the same
 * objects as before.
 */
export function toRows(turns: readonly JoinedTurn[]): readonly TurnRow[] {
  return turns.flatMap((turn) => {
    const known = made.get(turn);
    if (known !== undefined) return known;
    const rows = rowsOf(turn);
    made.set(turn, rows);
    return rows;
  });
}

function rowsOf(turn: JoinedTurn): readonly TurnRow[] {
  const rows: TurnRow[] = arrange(turn.items, turn.status !== 'in_progress').map((row) => ({
    key: `${turn.turnId} ${row.key}`,
    turn,
    row,
  }));
  rows.push({ key: `${turn.turnId} end`, turn });
  return rows;
}

/** The row of an item, and the ids of the folds around the item, outermost first. */
export interface RowPosition {
  index: number;
  within: readonly string[];
}

export function findItemRow(rows: readonly TurnRow[], itemId: string): RowPosition | undefined {
  for (const [index, { row }] of rows.entries()) {
    const within = row && foldsAround(row, itemId);
    if (within !== undefined) return { index, within };
  }
  return undefined;
}

function foldsAround(row: Row, itemId: string): readonly string[] | undefined {
  switch (row.kind) {
    case 'item':
      return row.item.itemId === itemId ? [] : undefined;
    case 'reads':
      return row.calls.some((call) => call.itemId === itemId) ? [row.key] : undefined;
    case 'not-made': {
      const way = firstFoldsAround(row.rows, itemId);
      return way && [row.key, ...way];
    }
    case 'tool': {
      const { call, approval, script } = row;
      if ([call, approval, script].some((item) => item?.itemId === itemId)) return [];
      const way = firstFoldsAround(row.below, itemId);
      return way && [row.call.itemId, ...way];
    }
  }
}

function firstFoldsAround(rows: readonly Row[], itemId: string): readonly string[] | undefined {
  for (const row of rows) {
    const way = foldsAround(row, itemId);
    if (way !== undefined) return way;
  }
  return undefined;
}
