import { type RefObject, useLayoutEffect, useRef } from 'react';

/** The first visible row, and its place. */
interface Place {
  row: string;
  /** Below the top of the content (px). */
  top: number;
}

/**
 * Keeps the visible text in place when something above it changes. Browsers do that too, but not all of them, not at
 * the top, and not after a jump; so this does it for all, in time to be painted with the change.
 *
 * If rows turn out taller or smaller than their gap, the gap above them takes the difference, which moves nothing. Only
 * the rest moves the scroller, since that would interrupt a scroll of the reader's.
 */
export function useKeepPlace(
  scroller: RefObject<HTMLElement | null>,
  column: RefObject<HTMLElement | null>,
  { sticks, isFollowing }: { sticks: boolean; isFollowing: () => boolean },
): void {
  const read = useRef<Place | undefined>(undefined);
  const settle = useRef(() => {});

  useLayoutEffect(() => {
    const element = scroller.current;
    const inner = column.current;
    if (element === null || inner === null || sticks) return undefined;
    const note = () => {
      if (element.clientHeight > 0) read.current = firstSeen(element, inner);
    };
    settle.current = () => {
      // Two that move the scroller in one frame would undo each other.
      if (isFollowing()) return;
      const row = read.current && findRow(inner, read.current.row);
      if (read.current !== undefined && row !== undefined && element.clientHeight > 0) {
        const moved = placeOf(element, row) - read.current.top;
        if (Math.abs(moved) >= 1) takeBack(element, row, moved);
      }
      note();
    };
    note();
    const sizes = new ResizeObserver(() => settle.current());
    sizes.observe(inner);
    element.addEventListener('scroll', note, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', note);
      settle.current = () => {};
      read.current = undefined;
    };
  }, [column, isFollowing, scroller, sticks]);

  useLayoutEffect(() => settle.current());
}

function takeBack(element: HTMLElement, row: HTMLElement, moved: number): void {
  const gap = gapAbove(element, row);
  const likely = Number(gap?.dataset['gap']);
  const height = (gap?.offsetHeight ?? 0) - moved;
  // A gap that is far from its rows' likely height would be noticed on arrival.
  if (gap !== undefined && height > likely / 2 && height < likely * 2) {
    gap.style.height = `${height}px`;
  } else {
    element.scrollTop += moved;
  }
}

/** The nearest gap before a row. */
function gapAbove(element: HTMLElement, row: HTMLElement): HTMLElement | undefined {
  const gaps = [...element.querySelectorAll<HTMLElement>('[data-gap]')];
  return gaps.findLast(
    (gap) => (gap.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  );
}

function firstSeen(element: HTMLElement, column: HTMLElement): Place | undefined {
  const rows = [...column.querySelectorAll<HTMLElement>('[data-row]')];
  const { top } = element.getBoundingClientRect();
  const seen = rows.find((row) => row.getBoundingClientRect().bottom > top);
  return seen && { row: seen.dataset['row'] ?? '', top: placeOf(element, seen) };
}

function placeOf(element: HTMLElement, row: HTMLElement): number {
  const within = row.getBoundingClientRect().top - element.getBoundingClientRect().top;
  return within + element.scrollTop;
}

function findRow(column: HTMLElement, key: string): HTMLElement | undefined {
  return column.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? undefined;
}
