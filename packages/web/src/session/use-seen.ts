import { type RefObject, useCallback, useEffect, useRef } from 'react';

/** Shorter than this (ms) nobody has read what to answer: a key was meant for what stood there before. */
export const toRead = 400;

/** So much of it must be in the window: the edge of a pixel is no reason. */
const whole = 0.9;

/**
 * Whether an element, as it is since `key`, has been before somebody's eyes long enough to be answered by a key: in the
 * window, and the window in front.
 */
export function useSeen(
  element: RefObject<HTMLElement | null>,
  key: string | undefined,
): () => boolean {
  /** When it came into sight (ms, as of `performance.now`). */
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
        inWindow = (entries.at(-1)?.intersectionRatio ?? 0) >= whole;
        judge();
      },
      { threshold: [0, whole] },
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
