import { type RefObject, useCallback, useEffect, useRef } from 'react';

/**
 * The time (ms) that a request must be visible before a key can answer it. A key that is pressed earlier was meant for
 * the previous content.
 */
export const toRead = 400;

/**
 * The share of the element that must be in the window. It is less than 1, since a fraction of a pixel may be cut off.
 */
const visibleShare = 0.9;

/**
 * Returns whether an element has been visible in the focused window long enough for a key to answer it. With a new
 * `key`, the time starts again.
 */
export function useSeen(
  element: RefObject<HTMLElement | null>,
  key: string | undefined,
): () => boolean {
  /** The time at which the element became visible (ms, by `performance.now`). */
  const since = useRef<number>(undefined);
  useEffect(() => {
    const watched = element.current;
    if (watched === null || key === undefined) return undefined;
    let inWindow = false;
    let inFront = document.hasFocus();
    const judge = () => {
      const isSeen = inWindow && inFront && document.visibilityState === 'visible';
      since.current = isSeen ? (since.current ?? performance.now()) : undefined;
    };
    const watch = new IntersectionObserver(
      (entries) => {
        inWindow = (entries.at(-1)?.intersectionRatio ?? 0) >= visibleShare;
        judge();
      },
      { threshold: [0, visibleShare] },
    );
    const turn = (isInFront: boolean) => () => {
      inFront = isInFront;
      judge();
    };
    const listeners = [
      [window, 'focus', turn(true)],
      [window, 'blur', turn(false)],
      [document, 'visibilitychange', judge],
    ] as const;
    watch.observe(watched);
    for (const [target, name, listener] of listeners) target.addEventListener(name, listener);
    return () => {
      since.current = undefined;
      watch.disconnect();
      for (const [target, name, listener] of listeners) target.removeEventListener(name, listener);
    };
  }, [element, key]);

  return useCallback(
    () => since.current !== undefined && performance.now() - since.current >= toRead,
    [],
  );
}
