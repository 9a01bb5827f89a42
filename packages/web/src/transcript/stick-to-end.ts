/** The scroll position of a scrolling element, in px. */
export interface ScrollPosition {
  top: number;
  /** The height of the whole content. */
  content: number;
  /** The height of the visible part. */
  window: number;
}

/** A reader who is less than this far (px) from the end is at the end. */
const near = 40;

export function isAtEnd({ top, content, window }: ScrollPosition): boolean {
  return content - window - top <= near;
}

/**
 * Returns whether the page keeps following the end after a scroll. Only a reader who scrolls up ends the following.
 * Growing content also moves the end away, but does not end the following.
 */
export function followsEnd(before: { top: number; sticks: boolean }, now: ScrollPosition): boolean {
  if (isAtEnd(now)) return true;
  return before.sticks && now.top >= before.top;
}
