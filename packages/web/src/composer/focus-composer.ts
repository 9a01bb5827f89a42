import { type RefObject, useLayoutEffect } from 'react';

/** The page of the active session. */
const page = 'main:not([style*="none"])';

/** Focuses the message field of the active session. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>(`${page} [data-composer]`)?.focus();
}

/** Moves the focus to the composer; on a phone, where that would open the keyboard, to the page. */
export function giveFocusBack(): void {
  if (matchMedia('(pointer: fine)').matches) focusComposer();
  else document.querySelector<HTMLElement>(page)?.focus();
}

/** Gives the focus back when the element disappears, so that it is not lost. */
export function useGiveFocusBack(element: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const held = element.current;
    return () => {
      if (held?.contains(document.activeElement) === true) giveFocusBack();
    };
  }, [element]);
}
