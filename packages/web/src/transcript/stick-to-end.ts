/** The scroll position of a scroller (px). */
export interface ScrollPosition {
  top: number;
  /** Height of the whole content. */
  content: number;
  /** Height of the visible part. */
  window: number;
}

/** Closer to the end than this (px) counts as being at the end. */
const near = 40;

export function isAtEnd({ top, content, window }: ScrollPosition): boolean {
  return content - window - top <= near;
}

/**
 * Whether the page keeps following the end after a scroll. Only a reader who scrolls up ends the following; growing
 * content also moves the end away, but does not end the following.
 */
export function followsEnd(before: { top: number; sticks: boolean }, now: ScrollPosition): boolean {
  if (isAtEnd(now)) return true;
  return before.sticks && now.top >= before.top;
}
