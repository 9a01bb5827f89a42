import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { followsEnd, type ScrollPosition } from './stick-to-end.ts';

interface Stick {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  /** Whether the page follows new content at the end. */
  sticks: boolean;
  toEnd: () => void;
  /** Stops following the end, because the page scrolls to another position. */
  leaveEnd: () => void;
  /** Returns the value that `sticks` will have after the next rendering. */
  isFollowing: () => boolean;
}

/**
 * Follows the end of growing content while the reader is there, and keeps the reader's scroll position when another tab
 * is shown.
 */
export function useStickToEnd(): Stick {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const last = useRef({ top: 0, sticks: true });
  const [sticks, setSticks] = useState(true);

  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    element.scrollTop = element.scrollHeight;
    last.current = { top: element.scrollTop, sticks: true };
    setSticks(true);
    anchor(element, true);
  }, []);

  // The scrolling element of a hidden tab loses its position.
  useLayoutEffect(() => {
    if (last.current.sticks) toEnd();
    else if (scroller.current !== null) scroller.current.scrollTop = last.current.top;
  }, [toEnd]);

  /**
   * Reads the reader's scroll position. This is called before anything is moved, since the browser's event arrives a
   * frame later.
   */
  const look = useCallback(() => {
    const element = scroller.current;
    if (element === null || element.clientHeight === 0) return;
    const place = scrollPosition(element);
    const next = followsEnd(last.current, place);
    last.current = { top: place.top, sticks: next };
    setSticks(next);
    anchor(element, next);
  }, []);

  const follow = useCallback(() => {
    if (last.current.sticks) look();
    if (last.current.sticks && scroller.current?.clientHeight) toEnd();
  }, [look, toEnd]);

  // Scroll in the same animation frame in which the content is rendered. Otherwise, the content would visibly move
  // first.
  useLayoutEffect(follow);

  const leaveEnd = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    last.current = { top: element.scrollTop, sticks: false };
    setSticks(false);
    anchor(element, false);
  }, []);

  useEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (element === null || inner === null) return undefined;
    const sizes = new ResizeObserver(follow);
    sizes.observe(inner);
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [follow, look]);

  const isFollowing = useCallback(() => last.current.sticks, []);

  return { scroller, content, sticks, toEnd, leaveEnd, isFollowing };
}

/**
 * Turns the browser's scroll anchoring off while the page follows the end. With anchoring, the browser would scroll
 * down when something is added above, and the page would not notice that the reader has scrolled up.
 */
function anchor(element: HTMLElement, sticks: boolean): void {
  const anchored = sticks ? 'none' : 'auto';
  if (element.style.overflowAnchor !== anchored) element.style.overflowAnchor = anchored;
}

function scrollPosition(element: HTMLElement): ScrollPosition {
  const { scrollTop, scrollHeight, clientHeight } = element;
  return { top: scrollTop, content: scrollHeight, window: clientHeight };
}
