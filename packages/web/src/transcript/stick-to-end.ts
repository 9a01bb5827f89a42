/** Where a scroller stands (px). */
export interface Place {
  top: number;
  /** Of the whole content. */
  content: number;
  /** Of the part that is seen. */
  window: number;
}

/** Closer to the end than this (px) counts as being there. */
const near = 40;

export function isAtEnd({ top, content, window }: Place): boolean {
  return content - window - top <= near;
}

/**
 * Whether the reader keeps to the end after a scroll. Leaving it takes a movement upwards: content that grows while
 * the page is still following it moves the end away too, and is not the reader's doing.
 */
export function keepsToEnd(before: { top: number; sticks: boolean }, now: Place): boolean {
  if (isAtEnd(now)) return true;
  return before.sticks && now.top >= before.top;
}
