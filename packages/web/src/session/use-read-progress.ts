import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { toRead } from './use-seen.ts';

/** Whether the whole request has been shown, and a function that shows the rest. */
export interface ReadProgress {
  /**
   * The element that scrolls. The request counts as shown when each part with the attribute `data-to-see` has been
   * visible, and no element with `data-unshown` is left.
   */
  scroller: RefObject<HTMLDivElement | null>;
  isFullyShown: boolean;
  /**
   * False for a short time after the content has changed, because a person may press a button that was meant for the
   * previous content.
   */
  isSettled: boolean;
  /** Returns whether the whole request has been shown long enough that a key may allow it. */
  isRead: () => boolean;
  /** Whether the request is shown larger than usual. */
  isOpen: boolean;
  /** Shows the request larger; if this is not enough, scrolls to the next part. */
  showRest: () => void;
}

/** The height (px) that stays visible after a scroll step, so that the reader does not lose the line. */
const overlap = 24;

/**
 * Watches the content of the request `key`. A part counts as shown when its end has been visible. If the part's text
 * changes, the part must be shown again.
 */
export function useReadProgress(key: string | undefined): ReadProgress {
  const scroller = useRef<HTMLDivElement>(null);
  const [isFullyShown, setFullyShown] = useState(false);
  const [openKey, setOpenKey] = useState<string>();
  const { isSettled, unsettle } = useSettled();
  /** For each part, the content that it had when its end was visible. */
  const seen = useRef(new WeakMap<HTMLElement, string>());
  /** The time at which the whole request had been shown (ms, by `performance.now`). */
  const since = useRef<number>(undefined);
  const isOpen = key !== undefined && openKey === key;

  const judge = useCallback(() => {
    const parts = partsToSee(scroller.current);
    for (const part of parts) {
      const content = contentOf(part);
      if (seen.current.get(part) === content || !endsInSight(part, scroller.current)) continue;
      seen.current.set(part, content);
      // The whole request had been shown, and this part was added or changed since then, so start again.
      if (since.current !== undefined) unsettle();
      since.current = undefined;
    }
    const isShown =
      unshownIn(scroller.current) === null &&
      parts.every((part) => seen.current.get(part) === contentOf(part));
    since.current = isShown ? (since.current ?? performance.now()) : undefined;
    setFullyShown(isShown);
  }, [unsettle]);
  const before = useRef(key);
  useLayoutEffect(() => {
    since.current = undefined;
    if (before.current !== undefined && before.current !== key) unsettle();
    before.current = key;
  }, [key, unsettle]);
  // Check after each rendering, because any rendering may have changed the text of a part.
  useLayoutEffect(judge);
  useEffect(() => {
    const { current: region } = scroller;
    if (region === null) return undefined;
    const sizes = new ResizeObserver(judge);
    for (const element of [region, ...partsToSee(region)]) sizes.observe(element);
    // Listen in the capture phase, because both the request and the elements around it scroll.
    window.addEventListener('scroll', judge, true);
    return () => {
      sizes.disconnect();
      window.removeEventListener('scroll', judge, true);
    };
  }, [judge, key]);

  const isRead = useCallback(
    () => since.current !== undefined && performance.now() - since.current >= toRead,
    [],
  );
  const showRest = () => {
    const { current: region } = scroller;
    setOpenKey(key);
    if (!isOpen || region === null) return;
    const next = unshownIn(region);
    if (next !== null && endsInSight(next, region)) next.click();
    region.scrollBy({ top: region.clientHeight - overlap });
  };
  return { scroller, isFullyShown, isSettled, isRead, isOpen, showRest };
}

/** Returns `isSettled`, which is false after `unsettle` for the time that a person needs to notice a change. */
function useSettled(): { isSettled: boolean; unsettle: () => void } {
  const [changes, setChanges] = useState(0);
  const [settled, setSettled] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(changes), toRead);
    return () => clearTimeout(timer);
  }, [changes]);
  const unsettle = useCallback(() => setChanges((count) => count + 1), []);
  return { isSettled: settled === changes, unsettle };
}

function partsToSee(region: HTMLElement | null): HTMLElement[] {
  return [...(region?.querySelectorAll<HTMLElement>('[data-to-see="true"]') ?? [])];
}

/**
 * Returns the content that identifies a part: its text, or its `data-said` if a person can change the text (in a form).
 */
function contentOf(part: HTMLElement): string {
  return part.dataset['said'] ?? part.textContent ?? '';
}

/** Returns the first control that shows more content: content that is folded, or that is not laid out yet. */
function unshownIn(region: HTMLElement | null): HTMLElement | null {
  return region?.querySelector<HTMLElement>('[data-unshown="true"]') ?? null;
}

function endsInSight(part: Element, region: HTMLElement | null): boolean {
  if (region === null || region.clientHeight === 0) return false;
  const { bottom } = region.getBoundingClientRect();
  // Allow one pixel more, because positions can be fractions of a pixel.
  const inSight = Math.min(bottom, innerHeight) + 1;
  return bottom > 0 && part.getBoundingClientRect().bottom <= inSight;
}
