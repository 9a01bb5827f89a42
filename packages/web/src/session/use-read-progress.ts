import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { toRead } from './use-seen.ts';

/** Whether a request has been shown in full, and a function that shows the rest. */
export interface ReadProgress {
  /**
   * The scrolling element. Each of its parts with `data-to-see` must have been visible before the request counts as
   * shown, and no `data-unshown` may be left in it.
   */
  scroller: RefObject<HTMLDivElement | null>;
  isFullyShown: boolean;
  /**
   * False shortly after the content has changed, because a person may press a button that was meant for the previous
   * content.
   */
  isSettled: boolean;
  /** Whether the request was shown in full, long enough to be allowed by a key. */
  isRead: () => boolean;
  /** Whether the request has more room than usual. */
  isOpen: boolean;
  /** Gives the request more room; if that is not enough, scrolls to the next part. */
  showRest: () => void;
}

/** Height (px) that stays visible after a scroll step, so that the reader keeps the place. */
const overlap = 24;

/**
 * Watches the content of the request `key`. A part counts as shown when its end was visible; if its text changes, the
 * part must be shown again.
 */
export function useReadProgress(key: string | undefined): ReadProgress {
  const scroller = useRef<HTMLDivElement>(null);
  const [isFullyShown, setFullyShown] = useState(false);
  const [openKey, setOpenKey] = useState<string>();
  const { isSettled, unsettle } = useSettled();
  /** For each part, its content at the time when its end was visible. */
  const seen = useRef(new WeakMap<HTMLElement, string>());
  /** When the whole request had been shown (ms, by `performance.now`). */
  const since = useRef<number>(undefined);
  const isOpen = key !== undefined && openKey === key;

  const judge = useCallback(() => {
    const parts = partsToSee(scroller.current);
    for (const part of parts) {
      const content = contentOf(part);
      if (seen.current.get(part) === content || !endsInSight(part, scroller.current)) continue;
      seen.current.set(part, content);
      // The request had been fully shown, and this part was added or changed since: start again.
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
  // After each rendering, because any rendering may have changed a part's text.
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

/** `isSettled` is false after `unsettle`, for the time that a person needs to notice a change. */
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

/** The content by which a part is known: its text, or its `data-said` if a person can change the text (a form). */
function contentOf(part: HTMLElement): string {
  return part.dataset['said'] ?? part.textContent ?? '';
}

/** The first control that shows more content, which is folded or not laid out yet. */
function unshownIn(region: HTMLElement | null): HTMLElement | null {
  return region?.querySelector<HTMLElement>('[data-unshown="true"]') ?? null;
}

function endsInSight(part: Element, region: HTMLElement | null): boolean {
  if (region === null || region.clientHeight === 0) return false;
  const { bottom } = region.getBoundingClientRect();
  // Allow one pixel more, because positions are fractions.
  const inSight = Math.min(bottom, innerHeight) + 1;
  return bottom > 0 && part.getBoundingClientRect().bottom <= inSight;
}
