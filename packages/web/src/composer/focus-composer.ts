import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { isTouch } from '../app/typing.ts';

/** A selector for the page of the active session. */
const page = 'main:not([style*="none"])';

/** Focuses the message field of the active session. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>(`${page} [data-composer]`)?.focus();
}

/** Moves the focus to the composer. On a phone, where that would open the keyboard, moves the focus to the page. */
export function giveFocusBack(): void {
  if (isTouch()) document.querySelector<HTMLElement>(page)?.focus();
  else focusComposer();
}

/** Moves the focus to the composer when the element disappears, so that the focus is not lost. */
export function useGiveFocusBack(element: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const held = element.current;
    return () => {
      if (held?.contains(document.activeElement) === true) giveFocusBack();
    };
  }, [element]);
}

/**
 * Focuses the composer when an opened session is ready, if the device has a keyboard and the person has not focused
 * another element since the session was opened.
 */
export function useFocusWhenReady(isReady: boolean): void {
  const opened = useRef<{ by: Element | null; hasActed: boolean }>(null);
  useEffect(() => {
    const opening = { by: document.activeElement, hasActed: false };
    opened.current = opening;
    const act = () => (opening.hasActed = true);
    const listening = new AbortController();
    document.addEventListener('keydown', act, { capture: true, signal: listening.signal });
    document.addEventListener('pointerdown', act, { capture: true, signal: listening.signal });
    return () => listening.abort();
  }, []);
  useEffect(() => {
    if (!isReady || opened.current === null) return;
    const { by, hasActed } = opened.current;
    const { activeElement: held } = document;
    const isElsewhere = held !== by && held !== document.body && held?.matches('main') === false;
    const isDialogOpen = document.querySelector('dialog[open]') !== null;
    if (!isTouch() && !isDialogOpen && !(hasActed && isElsewhere)) focusComposer();
  }, [isReady]);
}
