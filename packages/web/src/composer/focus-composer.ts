import { type RefObject, useLayoutEffect } from 'react';

/** The page of the session that is looked at. */
const page = 'main:not([style*="none"])';

/** Puts the cursor where the session that is looked at is written to. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>(`${page} [data-composer]`)?.focus();
}

/** Gives the focus of what was dealt with to the composer; on a phone, where that opens the keyboard, to the page. */
export function giveFocusBack(): void {
  if (matchMedia('(pointer: fine)').matches) focusComposer();
  else document.querySelector<HTMLElement>(page)?.focus();
}

/** The focus of what goes is given back, so that it does not fall to nothing at all. */
export function useGiveFocusBack(element: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const held = element.current;
    return () => {
      if (held?.contains(document.activeElement) === true) giveFocusBack();
    };
  }, [element]);
}
