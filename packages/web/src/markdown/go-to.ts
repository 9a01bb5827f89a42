import type { MouseEvent } from 'react';

/** Scrolls within the page: the address belongs to the session. */
export function goTo(event: MouseEvent, place: Element | null): void {
  event.preventDefault();
  if (!(place instanceof HTMLElement)) return;
  place.scrollIntoView({ block: 'center' });
  place.focus({ preventScroll: true });
}
