import { type RefObject, useLayoutEffect, useRef } from 'react';

/** The first visible row, with the place where it belongs. */
interface FirstVisibleRow {
  row: string;
  /** The distance from the top of the content at which the row belongs (px). */
  top: number;
}

/** Smaller moves (px) stay until they add up: the browser rounds positions, and each correction costs time. */
const least = 1;

/**
 * Keeps the visible text in place when something above it changes. Not all browsers keep the text in place, and no
 * browser does so at the top or after a jump. This hook works in every browser, and its correction is painted
 * together with the change.
 *
 * If rows turn out taller or smaller than their gap, the gap above them is resized by the difference, which moves
 * nothing. Only the remaining difference is scrolled, because scrolling would interrupt the reader's own scrolling.
 */
export function useKeepPlace(
  scroller: RefObject<HTMLElement | null>,
  column: RefObject<HTMLElement | null>,
  { sticks, isFollowing }: { sticks: boolean; isFollowing: () => boolean },
): void {
  const read = useRef<FirstVisibleRow | undefined>(undefined);
  const settle = useRef(() => {});

  useLayoutEffect(() => {
    const element = scroller.current;
    const inner = column.current;
    if (element === null || inner === null || sticks) return undefined;
    /** Notes the first visible row, which is `rest` px below the place where it belongs. */
    const note = (rest: number) => {
      const seen = firstSeen(element, inner);
      // A larger rest is not a rounding error: the row stays where it is.
      const top = Math.abs(rest) < least ? rest : 0;
      read.current = seen && { ...seen, top: seen.top - top };
    };
    /** How far (px) the noted row is below the place where it belongs, with its element. */
    const look = () => {
      const { current: noted } = read;
      const row = noted && findRow(inner, noted.row);
      if (noted === undefined || row === undefined) return { moved: 0 };
      return { row, moved: rowTop(element, row) - noted.top };
    };
    settle.current = () => {
      // While the page follows the end, `useStickToEnd` scrolls; two scrolls in one frame would undo each other.
      if (isFollowing() || element.clientHeight === 0) return;
      const { row, moved } = look();
      if (row !== undefined && Math.abs(moved) >= least) note(undoMove(element, row, moved));
      else note(moved);
    };
    const onScroll = () => {
      if (element.clientHeight > 0) note(look().moved);
    };
    onScroll();
    const sizes = new ResizeObserver(() => settle.current());
    sizes.observe(inner);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', onScroll);
      settle.current = () => {};
      read.current = undefined;
    };
  }, [column, isFollowing, scroller, sticks]);

  useLayoutEffect(() => settle.current());
}

/** Undoes a move of a row. Returns how far (px) the row is then still below its place. */
function undoMove(element: HTMLElement, row: HTMLElement, moved: number): number {
  const gap = gapAbove(element, row);
  const likely = Number(gap?.dataset['gap']);
  // Not `offsetHeight`, which is a whole number: the differences of many rows would add up.
  const height = (gap?.getBoundingClientRect().height ?? 0) - moved;
  // Resize a gap only while its height stays near the likely height of its rows. Otherwise, a reader who scrolls there
  // would notice the wrong height.
  if (gap !== undefined && height > likely / 2 && height < likely * 2) {
    gap.style.height = `${height}px`;
    return 0;
  }
  const before = element.scrollTop;
  element.scrollTop += moved;
  return moved - (element.scrollTop - before);
}

/** Returns the nearest gap before a row. */
function gapAbove(element: HTMLElement, row: HTMLElement): HTMLElement | undefined {
  const gaps = [...element.querySelectorAll<HTMLElement>('[data-gap]')];
  return gaps.findLast(
    (gap) => (gap.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  );
}

function firstSeen(element: HTMLElement, column: HTMLElement): FirstVisibleRow | undefined {
  const rows = [...column.querySelectorAll<HTMLElement>('[data-row]')];
  const { top } = element.getBoundingClientRect();
  const seen = rows.find((row) => row.getBoundingClientRect().bottom > top);
  return seen && { row: seen.dataset['row'] ?? '', top: rowTop(element, seen) };
}

function rowTop(element: HTMLElement, row: HTMLElement): number {
  const within = row.getBoundingClientRect().top - element.getBoundingClientRect().top;
  return within + element.scrollTop;
}

function findRow(column: HTMLElement, key: string): HTMLElement | undefined {
  return column.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? undefined;
}
