import { useEffect } from 'react';
import { isTouch } from './typing.ts';

/** A selector for elements that can have the focus. */
const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex]';

/**
 * Keeps the focus on the page when the focused element disappears: an answered request, a closed tab, a message that
 * was taken out of the queue. Browsers then move the focus to the body, and the Tab key starts at the top again. This
 * hook moves the focus to an element nearby: to the same control in the next row of a list, otherwise to the same list,
 * otherwise to the same part of the page.
 */
export function useFocusKeeper(): void {
  useEffect(() => {
    let last: Held | undefined;
    let due = 0;
    const remember = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return;
      last = { element: target, around: ancestorsOf(target), row: rowOf(target) };
    };
    const check = () => {
      due = 0;
      if (last === undefined || !isFocusLost()) return;
      // The element is still on the page: the person clicked on something that cannot have the focus.
      if (canFocus(last.element)) last = undefined;
      else focusNext(last);
    };
    // Check only after two frames, because another element often replaces an element that disappears.
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

/** Focuses the message field, or, if there is none, the main part of the page. */
export function focusMain(): void {
  const main = [...document.querySelectorAll<HTMLElement>('main')].find((one) => isVisible(one));
  const field = main?.querySelector<HTMLElement>('[data-composer]');
  // On a phone, a focused field opens the on-screen keyboard.
  if (field && !isTouch()) return field.focus();
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

/** The element that had the focus last, and its position. */
interface Held {
  element: HTMLElement;
  around: readonly HTMLElement[];
  /** The row that contains the element: the row's list, and the row's index from 0. */
  row: { list: HTMLElement; index: number } | undefined;
}

function rowOf(element: HTMLElement): Held['row'] {
  const row = element.closest('li');
  const list = row?.parentElement;
  return row && list ? { list, index: [...list.children].indexOf(row) } : undefined;
}

/**
 * Returns the control with the same name in the row that is now at the place of the element's row, or in the last row.
 */
function sameInNextRow({ element, row }: Held): HTMLElement | undefined {
  if (row === undefined) return undefined;
  const next = row.list.children[Math.min(row.index, row.list.childElementCount - 1)];
  return [...(next?.querySelectorAll<HTMLElement>(focusable) ?? [])].find(
    (one) => nameOf(one) === nameOf(element) && canFocus(one) && isInSight(one),
  );
}

const nameOf = (element: HTMLElement): string | null => element.ariaLabel ?? element.textContent;

function focusNext(held: Held): void {
  const dialog = document.querySelector<HTMLElement>('dialog[open]');
  const places =
    dialog === null ? held.around : held.around.filter((place) => dialog.contains(place));
  for (const place of places) {
    if (!place.isConnected || !isVisible(place)) continue;
    if (place.tagName === 'MAIN' || place.querySelector('main') !== null) break;
    const next =
      (place === held.row?.list ? sameInNextRow(held) : undefined) ?? firstFocusable(place);
    if (next !== undefined) return next.focus({ preventScroll: true });
  }
  if (dialog === null) focusMain();
  else firstFocusable(dialog)?.focus({ preventScroll: true });
}

/**
 * Returns the current entry in a part of the page, or, if there is none, the first entry that is visible, so that
 * nothing scrolls. Never returns a text field, because focusing a text field on a phone would open the keyboard.
 */
function firstFocusable(place: HTMLElement): HTMLElement | undefined {
  const all = [...place.querySelectorAll<HTMLElement>(focusable)].filter(
    (one) => canFocus(one) && isInSight(one),
  );
  const usable = isTouch() ? all.filter((one) => !one.matches('input, textarea, select')) : all;
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
