import type { MouseEvent } from 'react';

/** Scrolls to an element. The address does not change, because it contains the session's id. */
export function goTo(event: MouseEvent, place: Element | null): void {
  event.preventDefault();
  if (!(place instanceof HTMLElement)) return;
  place.scrollIntoView({ block: 'center' });
  place.focus({ preventScroll: true });
}
