import { type RefObject, useLayoutEffect, useRef } from 'react';

/** The first row that is visible, with its position. */
interface FirstVisibleRow {
  row: string;
  /** The row's distance from the top of the content (px). */
  top: number;
}

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
    const note = () => {
      if (element.clientHeight > 0) read.current = firstSeen(element, inner);
    };
    settle.current = () => {
      // While the page follows the end, `useStickToEnd` scrolls; two scrolls in one frame would undo each other.
      if (isFollowing()) return;
      const row = read.current && findRow(inner, read.current.row);
      if (read.current !== undefined && row !== undefined && element.clientHeight > 0) {
        const moved = rowTop(element, row) - read.current.top;
        if (Math.abs(moved) >= 1) undoMove(element, row, moved);
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

function undoMove(element: HTMLElement, row: HTMLElement, moved: number): void {
  const gap = gapAbove(element, row);
  const likely = Number(gap?.dataset['gap']);
  const height = (gap?.offsetHeight ?? 0) - moved;
  // Resize a gap only while its height stays near the likely height of its rows. Otherwise, a reader who scrolls there
  // would notice the wrong height.
  if (gap !== undefined && height > likely / 2 && height < likely * 2) {
    gap.style.height = `${height}px`;
  } else {
    element.scrollTop += moved;
  }
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
