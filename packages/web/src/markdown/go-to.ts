import type { MouseEvent } from 'react';

/** Scrolls to an element without changing the address, which names the session. */
export function goTo(event: MouseEvent, place: Element | null): void {
  event.preventDefault();
  if (!(place instanceof HTMLElement)) return;
  place.scrollIntoView({ block: 'center' });
  place.focus({ preventScroll: true });
}
