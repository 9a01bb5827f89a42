import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Heights, likelyHeight, rowAt } from './heights.ts';
import { heldRows } from './held-rows.ts';
import { FrameScheduler } from './frame-scheduler.ts';
import { around, covers, fitting, follow, nextSpan, type RowRange } from './row-range.ts';
import type { TurnRow } from './turn-rows.ts';

interface RowWindow {
  span: RowRange;
  /** Rows outside the drawn range that stay in the page because they contain the focus or the selection. */
  held: readonly string[];
  heights: Heights;
  /** Draws the rows around an index, so that the page can scroll to the row of that index. */
  draw: (index: number) => void;
}

/** The number of rows that are drawn at first, and the most rows that are drawn in one frame. */
const mostAtOnce = 24;
/** The fixed cost of each row, expressed as additional height in px. */
const rowItself = 60;
/** The number of rows that are drawn around the target of a jump. The other rows follow frame by frame. */
const aroundTarget = 6;
/** A row that is no further than this (px) from the window is drawn as if it were visible. */
const nearMargin = 300;
const everything: RowRange = { from: 0, to: Number.POSITIVE_INFINITY };

/**
 * Decides which rows of a conversation are in the page: visible rows at once, near rows when there is time. A frame
 * draws no more rows than it has time for.
 *
 * No library is used, because virtual lists do not support rows inside turns. `useKeepPlace` keeps the visible rows in
 * place.
 */
export function useWindow(
  rows: readonly TurnRow[],
  scroller: RefObject<HTMLElement | null>,
  column: RefObject<HTMLElement | null>,
): RowWindow {
  const [heights] = useState(() => new Heights());
  const [drawn, setDrawn] = useState(() => ({
    rows,
    span: lastRows(rows),
    held: [] as readonly string[],
  }));
  const span = follow(drawn.span, drawn.rows, rows, mostAtOnce);
  const latest = useRef({ rows, span });
  useLayoutEffect(() => {
    latest.current = { rows, span };
  });
  const schedule = useRef(() => {});

  useEffect(() => {
    const element = scroller.current;
    const inner = column.current;
    if (element === null || inner === null) return undefined;
    const scheduler = new FrameScheduler((isIdle) => {
      const { rows: all, span: now } = latest.current;
      // The elements of a hidden tab have no sizes.
      if (element.clientHeight === 0 || all.length === 0) return;
      // While a person types, measuring all rows in each frame would be too slow.
      if (!isIdle && !isGapNear(element, inner)) return scheduler.whenIdle();
      const seen = seenRows(element, all, now, heights, measureRows(inner, heights));
      const sizeOf = (index: number) => rowItself + heights.of(all[index] as TurnRow);
      const step = nextSpan(now, seen, all.length, mostAtOnce);
      // Draw visible rows even if the page is not idle.
      const room = covers(now, seen) ? scheduler.height : Math.max(1, scheduler.height);
      const next = fitting(now, step, sizeOf, room);
      if (next.from !== now.from || next.to !== now.to) {
        const held = heldRows(inner);
        scheduler.time(addedCost(now, next, sizeOf), () => {
          flushSync(() => setDrawn({ rows: all, span: next, held }));
          measureRows(inner, heights);
        });
      }
      if (!covers(next, seen)) scheduler.nextFrame();
      else if (!covers(next, around(seen, all.length))) scheduler.whenIdle();
    });
    schedule.current = () => scheduler.nextFrame();
    const sizes = new ResizeObserver(() => scheduler.nextFrame());
    sizes.observe(element);
    sizes.observe(inner);
    const onScroll = () => scheduler.nextFrame();
    element.addEventListener('scroll', onScroll, { passive: true });
    scheduler.nextFrame();
    return () => {
      schedule.current = () => {};
      sizes.disconnect();
      element.removeEventListener('scroll', onScroll);
      scheduler.end();
    };
  }, [column, heights, scroller]);

  // When rows are added or removed, other rows may come near the window although no size has changed.
  useEffect(() => schedule.current(), [rows.length]);

  const draw = useCallback((index: number) => {
    const { rows: all } = latest.current;
    const from = Math.max(0, index - aroundTarget);
    const to = Math.min(all.length, index + aroundTarget);
    // The held rows of other conversations are ignored, since their keys are not in this list.
    setDrawn({ rows: all, span: { from, to }, held: heldRows(document.body) });
  }, []);

  const isPrinted = useIsPrinted();
  return { span: isPrinted ? everything : span, held: drawn.held, heights, draw };
}

/** Returns the newest rows, about as many as fill a window. */
function lastRows(rows: readonly TurnRow[]): RowRange {
  let from = rows.length;
  for (let height = 0; from > 0 && height < innerHeight + nearMargin; from -= 1) {
    if (rows.length - from === mostAtOnce) break;
    height += likelyHeight(rows[from - 1] as TurnRow);
  }
  return { from, to: rows.length };
}

/** Returns the cost of drawing the rows that the next range adds. */
function addedCost(before: RowRange, next: RowRange, sizeOf: (index: number) => number): number {
  let size = 0;
  for (let index = next.from; index < next.to; index += 1) {
    if (index < before.from || index >= before.to) size += sizeOf(index);
  }
  return size;
}

/**
 * Records the heights of the rows in the page. Each height is measured to the top of the next row, so that margins
 * count once. Returns the tops of the rows (px below the top of the browser's window).
 */
function measureRows(column: HTMLElement, heights: Heights): ReadonlyMap<string, number> {
  const marks = [...column.querySelectorAll<HTMLElement>('[data-row], [data-gap]')];
  const boxes = marks.map((mark) => mark.getBoundingClientRect());
  const tops = new Map<string, number>();
  for (const [index, { dataset }] of marks.entries()) {
    const box = boxes[index];
    if (dataset['row'] === undefined || box === undefined) continue;
    heights.measure(dataset['row'], (boxes[index + 1]?.top ?? box.bottom) - box.top);
    tops.set(dataset['row'], box.top);
  }
  return tops;
}

/** Whether a gap is visible or near the window. */
function isGapNear(element: HTMLElement, column: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return [...column.querySelectorAll('[data-gap]')].some((gap) => {
    const box = gap.getBoundingClientRect();
    return box.bottom > top - nearMargin && box.top < bottom + nearMargin;
  });
}

function seenRows(
  element: HTMLElement,
  rows: readonly TurnRow[],
  drawn: RowRange,
  heights: Heights,
  places: ReadonlyMap<string, number>,
): RowRange {
  const tops = heights.tops(rows);
  const first = rows[drawn.from];
  const place = (first && places.get(first.key)) ?? 0;
  const origin = place - (tops[drawn.from] ?? 0);
  const { top, bottom } = element.getBoundingClientRect();
  return {
    from: rowAt(tops, top - nearMargin - origin),
    to: rowAt(tops, bottom + nearMargin - origin) + 1,
  };
}

/** Returns whether the page is being printed. Then all rows that are loaded are rendered. */
function useIsPrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    // Render synchronously, because the browser prints the page as it is when this listener returns.
    const before = () => flushSync(() => setPrinted(true));
    const after = () => setPrinted(false);
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
  return isPrinted;
}
