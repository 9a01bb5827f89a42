/** Rows one after another: from an index up to, but without, another. */
export interface Span {
  from: number;
  to: number;
}

/**
 * So many rows are drawn at the most. A conversation that has no more is wholly in the page, where the browser's own
 * search finds everything.
 */
const most = 200;
/** A few rows too many are no reason to take some away. */
const slack = 24;

export function covers(outer: Span, inner: Span): boolean {
  return outer.from <= inner.from && outer.to >= inner.to;
}

/** What should be drawn around the rows that are seen, when there is time for it: as much above as below. */
export function around(seen: Span, count: number): Span {
  const spare = Math.max(0, most - (seen.to - seen.from));
  const above = Math.max(Math.floor(spare / 2), spare - (count - seen.to));
  const from = Math.max(0, seen.from - above);
  const to = Math.min(count, Math.max(seen.to, from + most));
  return { from, to };
}

/** One step from what is drawn to what is wanted: what is seen first, and no more than `step` rows anew. */
export function nextSpan(drawn: Span, seen: Span, count: number, step: number): Span {
  const isApart = drawn.to <= seen.from || drawn.from >= seen.to;
  if (isApart) return { from: seen.from, to: Math.min(seen.to, seen.from + step) };
  if (!covers(drawn, seen)) return grow(drawn, seen, step);
  const wanted = around(seen, count);
  return cut(grow(drawn, wanted, step), wanted);
}

/**
 * As much of a step as `room` holds, at least one row; `sizeOf` tells what drawing a row takes. Of rows that stand apart
 * from those that are drawn, the first ones.
 */
export function fitting(
  drawn: Span,
  next: Span,
  sizeOf: (index: number) => number,
  room: number,
): Span {
  let used = 0;
  const fits = (index: number): boolean => {
    const isFirst = used === 0;
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

/** Grows towards what is wanted, on the side where less is drawn beyond it. */
function grow(drawn: Span, wanted: Span, step: number): Span {
  const above = Math.max(0, drawn.from - wanted.from);
  const below = Math.max(0, wanted.to - drawn.to);
  const up = above >= below ? Math.min(above, step) : Math.min(above, Math.max(0, step - below));
  const down = Math.min(below, step - up);
  return { from: drawn.from - up, to: drawn.to + down };
}

function cut(drawn: Span, wanted: Span): Span {
  return {
    from: wanted.from - drawn.from > slack ? wanted.from : drawn.from,
    to: drawn.to - wanted.to > slack ? wanted.to : drawn.to,
  };
}

interface Keyed {
  key: string;
}

/**
 * The same rows in a list that has changed: older rows come above, new ones below. Where the last row was drawn, up to
 * `step` new ones after it are drawn too. Without its first or last row a span begins anew at the end.
 */
export function follow(
  span: Span,
  before: readonly Keyed[],
  now: readonly Keyed[],
  step: number,
): Span {
  if (before === now) return span;
  const from = indexOfKey(now, before[span.from]?.key, span.from);
  const last = indexOfKey(now, before[span.to - 1]?.key, span.to - 1 + (from - span.from));
  if (from < 0 || last < from) return { from: Math.max(0, now.length - step), to: now.length };
  const atEnd = span.to === before.length;
  return { from, to: atEnd ? Math.min(now.length, last + 1 + step) : last + 1 };
}

/** Looks first where the key stood. */
export function indexOfKey(rows: readonly Keyed[], key: string | undefined, hint = 0): number {
  if (key !== undefined && rows[hint]?.key === key) return hint;
  return rows.findIndex((row) => row.key === key);
}
