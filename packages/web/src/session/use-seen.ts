import { type RefObject, useCallback, useEffect, useRef } from 'react';

/** Minimum time in sight (ms) before a key counts as an answer: an earlier key was meant for what was there before. */
export const toRead = 400;

/** Share that must be in the window; not all, since an edge may be cut by a fraction of a pixel. */
const whole = 0.9;

/**
 * Whether an element, unchanged since `key`, has been visible long enough to be answered by a key: in the window, with
 * the window in front.
 */
export function useSeen(
  element: RefObject<HTMLElement | null>,
  key: string | undefined,
): () => boolean {
  /** When it came into sight (ms, by `performance.now`). */
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
