import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';

interface Roving<E extends HTMLElement> {
  ref: RefObject<E | null>;
  onKeyDown: (event: KeyboardEvent) => void;
}

/**
 * A selector for the entries of a list. An entry with the attribute `data-beside` is reached only from its neighbour.
 */
const stops = 'a[href]:not([data-beside]), button:not([data-beside])';

/**
 * Makes a list a single stop of the Tab key. The arrow keys, Home and End move between its entries. Tab reaches the
 * entry that had the focus last, or, if none had it, the current entry. Entries are looked up in the page, since other
 * components render them.
 */
export function useRoving<E extends HTMLElement>(direction: 'row' | 'column'): Roving<E> {
  const ref = useRef<E>(null);

  useEffect(() => {
    const list = ref.current;
    if (list === null) return undefined;
    let last: Element | undefined;
    const arrange = () => {
      const all = stopsIn(list);
      const stop =
        all.find((one) => one === last) ?? all.find((one) => one.ariaCurrent !== null) ?? all[0];
      for (const one of all) {
        const tabIndex = one === stop ? 0 : -1;
        if (one.tabIndex !== tabIndex) one.tabIndex = tabIndex;
      }
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement) || !target.matches(stops)) return;
      last = target;
      arrange();
    };
    arrange();
    const changes = new MutationObserver(arrange);
    changes.observe(list, { childList: true, subtree: true, attributeFilter: ['aria-current'] });
    list.addEventListener('focusin', onFocus);
    return () => {
      changes.disconnect();
      list.removeEventListener('focusin', onFocus);
    };
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const { current: list } = ref;
    if (list === null || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const all = stopsIn(list);
    const { activeElement } = document;
    // After a click, the focus may also be on an element next to an entry.
    const from = [activeElement, activeElement?.previousElementSibling];
    const at = all.findIndex((one) => from.includes(one));
    const next = at < 0 ? undefined : all[nextIndex(event.key, at, all.length, direction)];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return { ref, onKeyDown };
}

function stopsIn(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(stops)];
}

function nextIndex(key: string, at: number, count: number, direction: 'row' | 'column'): number {
  const [back, on] = direction === 'row' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
  switch (key) {
    case back:
      return Math.max(0, at - 1);
    case on:
      return Math.min(count - 1, at + 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return -1;
  }
}
