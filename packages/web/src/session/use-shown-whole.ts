import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { toRead } from './use-seen.ts';

/** Whether all that somebody is asked to allow has been shown, and what shows the rest of it. */
export interface ShownWhole {
  /** Scrolls; its parts with `data-to-see` are what must be seen. */
  asked: RefObject<HTMLDivElement | null>;
  isWhole: boolean;
  /** Whether it has been shown long enough to be allowed by a key. */
  isRead: () => boolean;
  /** It takes more room than a request does by itself. */
  isOpen: boolean;
  /** Gives it more room; if that is not enough, the next part. */
  showRest: () => void;
}

/** Lines (px) that are shown again, so that nobody loses the place. */
const overlap = 24;

/**
 * Watches what is asked by the request `key`. A part has been shown when its end was in sight; where its text changes, it
 * must be shown again.
 */
export function useShownWhole(key: string | undefined): ShownWhole {
  const asked = useRef<HTMLDivElement>(null);
  const [isWhole, setWhole] = useState(false);
  const [openKey, setOpenKey] = useState<string>();
  /** The text of each part when its end was in sight. */
  const seen = useRef(new WeakMap<Element, string | null>());
  /** When all of it had been shown (ms, as of `performance.now`). */
  const since = useRef<number>(undefined);
  const isOpen = key !== undefined && openKey === key;

  const judge = useCallback(() => {
    const parts = partsOf(asked.current);
    for (const part of parts) {
      if (endsInSight(part, asked.current)) seen.current.set(part, part.textContent);
    }
    const isShown = parts.every((part) => seen.current.get(part) === part.textContent);
    since.current = isShown ? (since.current ?? performance.now()) : undefined;
    setWhole(isShown);
  }, []);
  useLayoutEffect(() => {
    since.current = undefined;
  }, [key]);
  // The text may have changed with anything.
  useLayoutEffect(judge);
  useEffect(() => {
    const { current: region } = asked;
    if (region === null) return undefined;
    const sizes = new ResizeObserver(judge);
    for (const element of [region, ...partsOf(region)]) sizes.observe(element);
    region.addEventListener('scroll', judge);
    return () => {
      sizes.disconnect();
      region.removeEventListener('scroll', judge);
    };
  }, [judge, key]);

  const isRead = useCallback(
    () => since.current !== undefined && performance.now() - since.current >= toRead,
    [],
  );
  const showRest = () => {
    setOpenKey(key);
    if (isOpen) asked.current?.scrollBy({ top: asked.current.clientHeight - overlap });
  };
  return { asked, isWhole, isRead, isOpen, showRest };
}

function partsOf(region: HTMLElement | null): Element[] {
  return [...(region?.querySelectorAll('[data-to-see="true"]') ?? [])];
}

function endsInSight(part: Element, region: HTMLElement | null): boolean {
  if (region === null || region.clientHeight === 0) return false;
  // A pixel may be cut in two.
  return part.getBoundingClientRect().bottom <= region.getBoundingClientRect().bottom + 1;
}
