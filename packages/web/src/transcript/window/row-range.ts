/** A range of consecutive rows: from an index (inclusive) to another index (exclusive). */
export interface RowRange {
  from: number;
  to: number;
}

/**
 * The most rows that are drawn. If a conversation has no more rows than this, all of it is in the page, so that the
 * browser's own search finds everything.
 */
const most = 200;
/** Rows are removed only when the limit is exceeded by this number of rows. */
const slack = 24;

export function covers(outer: RowRange, inner: RowRange): boolean {
  return outer.from <= inner.from && outer.to >= inner.to;
}

/** Returns the range to draw around the visible rows when there is time: as many rows above as below. */
export function around(seen: RowRange, count: number): RowRange {
  const spare = Math.max(0, most - (seen.to - seen.from));
  const above = Math.max(Math.floor(spare / 2), spare - (count - seen.to));
  const from = Math.max(0, seen.from - above);
  const to = Math.min(count, Math.max(seen.to, from + most));
  return { from, to };
}

/**
 * Returns the range after one step from the drawn range to the wanted range: the step adds visible rows first, and at
 * most `step` rows.
 */
export function nextSpan(drawn: RowRange, seen: RowRange, count: number, step: number): RowRange {
  const isApart = drawn.to <= seen.from || drawn.from >= seen.to;
  if (isApart) return { from: seen.from, to: Math.min(seen.to, seen.from + step) };
  if (!covers(drawn, seen)) return grow(drawn, seen, step);
  const wanted = around(seen, count);
  return shrink(grow(drawn, wanted, step), wanted);
}

/**
 * Returns the part of a step that fits into `room`; at least one row if there is any room. `sizeOf` returns the cost of
 * drawing a row. If the new rows do not touch the drawn rows, returns the first new rows that fit.
 */
export function fitting(
  drawn: RowRange,
  next: RowRange,
  sizeOf: (index: number) => number,
  room: number,
): RowRange {
  let used = 0;
  const fits = (index: number): boolean => {
    const isFirst = used === 0 && room > 0;
    used += sizeOf(index);
    return isFirst || used <= room;
  };
  const isApart = drawn.to <= next.from || drawn.from >= next.to;
  let from = isApart ? next.from : Math.max(drawn.from, next.from);
  let to = isApart ? next.from : Math.min(drawn.to, next.to);
  while (from > next.from && fits(from - 1)) from -= 1;
  while (to < next.to && fits(to)) to += 1;
  return { from, to };
}

/** Grows the drawn range towards the wanted range, on the side with fewer drawn rows. */
function grow(drawn: RowRange, wanted: RowRange, step: number): RowRange {
  const above = Math.max(0, drawn.from - wanted.from);
  const below = Math.max(0, wanted.to - drawn.to);
  const up = above >= below ? Math.min(above, step) : Math.min(above, Math.max(0, step - below));
  const down = Math.min(below, step - up);
  return { from: drawn.from - up, to: drawn.to + down };
}

function shrink(drawn: RowRange, wanted: RowRange): RowRange {
  return {
    from: wanted.from - drawn.from > slack ? wanted.from : drawn.from,
    to: drawn.to - wanted.to > slack ? wanted.to : drawn.to,
  };
}

interface Keyed {
  key: string;
}

/**
 * Returns the range of the same rows in a changed list, after older rows were added above and new rows below. If the
 * last row was drawn, up to `step` new rows after it are also drawn. If the first or last row of the range no longer
 * exists, the range starts again at the end.
 */
export function follow(
  span: RowRange,
  before: readonly Keyed[],
  now: readonly Keyed[],
  step: number,
): RowRange {
  if (before === now) return span;
  const from = indexOfKey(now, before[span.from]?.key, span.from);
  const last = indexOfKey(now, before[span.to - 1]?.key, span.to - 1 + (from - span.from));
  if (from < 0 || last < from) return { from: Math.max(0, now.length - step), to: now.length };
  const atEnd = span.to === before.length;
  return { from, to: atEnd ? Math.min(now.length, last + 1 + step) : last + 1 };
}

/** Returns the index of the row with a key. Looks first at the row's old index, `hint`. */
export function indexOfKey(rows: readonly Keyed[], key: string | undefined, hint = 0): number {
  if (key !== undefined && rows[hint]?.key === key) return hint;
  return rows.findIndex((row) => row.key === key);
}
