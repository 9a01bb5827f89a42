import { useEffect } from 'react';

/** Elements that can have the focus. */
const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex]';

/**
 * Keeps the focus on the page. The focused element can disappear: an answered request, a closed tab, a message taken
 * out of the queue. Browsers then move the focus to the body, so that the Tab key would start at the top of the page
 * again. This hook instead moves the focus as near as possible: to the same list, else to the same part of the page.
 */
export function useFocusKeeper(): void {
  useEffect(() => {
    let last: { element: HTMLElement; around: HTMLElement[] } | undefined;
    let due = 0;
    const remember = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement) last = { element: target, around: ancestorsOf(target) };
    };
    const check = () => {
      due = 0;
      if (last === undefined || !isFocusLost()) return;
      const { element, around } = last;
      // If the element is still there, the person has clicked on something that takes no focus: nothing needs to be
      // done.
      if (canFocus(element)) last = undefined;
      else focusNext(around);
    };
    // Check after two frames, because an element that disappears is often replaced at once.
    const look = () => {
      if (due === 0 && isFocusLost())
        due = requestAnimationFrame(() => requestAnimationFrame(check));
    };
    const changes = new MutationObserver(look);
    changes.observe(document.body, {
      childList: true,
      subtree: true,
      attributeFilter: ['disabled', 'style', 'hidden'],
    });
    document.addEventListener('focusin', remember);
    document.addEventListener('focusout', look);
    return () => {
      changes.disconnect();
      cancelAnimationFrame(due);
      document.removeEventListener('focusin', remember);
      document.removeEventListener('focusout', look);
    };
  }, []);
}

/** Focuses the message field, or else the main part of the page. */
export function focusMain(): void {
  const main = [...document.querySelectorAll<HTMLElement>('main')].find((one) => isVisible(one));
  const field = main?.querySelector<HTMLElement>('[data-composer]');
  // On a phone, a focused field opens the on-screen keyboard.
  if (field && matchMedia('(pointer: fine)').matches) return field.focus();
  if (main === undefined) return;
  main.tabIndex = -1;
  main.focus({ preventScroll: true });
}

function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

function ancestorsOf(element: HTMLElement): HTMLElement[] {
  const { parentElement } = element;
  return parentElement === null || parentElement === document.body
    ? []
    : [parentElement, ...ancestorsOf(parentElement)];
}

function focusNext(around: readonly HTMLElement[]): void {
  const dialog = document.querySelector<HTMLElement>('dialog[open]');
  const candidates = dialog === null ? around : around.filter((place) => dialog.contains(place));
  for (const place of candidates) {
    if (!place.isConnected || !isVisible(place)) continue;
    if (place.tagName === 'MAIN' || place.querySelector('main') !== null) break;
    const next = firstFocusable(place);
    if (next !== undefined) return next.focus({ preventScroll: true });
  }
  if (dialog === null) focusMain();
  else firstFocusable(dialog)?.focus({ preventScroll: true });
}

/**
 * The current entry of a part of the page, else its first visible entry, so that nothing scrolls. The focus never
 * moves to a text field, because on a phone that would open the keyboard.
 */
function firstFocusable(place: HTMLElement): HTMLElement | undefined {
  const all = [...place.querySelectorAll<HTMLElement>(focusable)].filter(
    (one) => canFocus(one) && isInSight(one),
  );
  const usable = matchMedia('(pointer: fine)').matches
    ? all
    : all.filter((one) => !one.matches('input, textarea, select'));
  return usable.find((one) => one.ariaCurrent !== null) ?? usable.find((one) => one.tabIndex >= 0);
}

function canFocus(element: HTMLElement): boolean {
  return element.isConnected && isVisible(element) && !element.matches(':disabled');
}

function isInSight(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function isVisible(element: HTMLElement): boolean {
  return element.checkVisibility({ visibilityProperty: true });
}
