/** The place of a scroller (px). */
export interface Place {
  top: number;
  /** Height of the whole content. */
  content: number;
  /** Height of the visible part. */
  window: number;
}

/** Closer to the end than this (px) counts as being at the end. */
const near = 40;

export function isAtEnd({ top, content, window }: Place): boolean {
  return content - window - top <= near;
}

/**
 * Whether the reader stays at the end after a scroll. Only a movement upwards leaves it: growing content moves the end
 * away too, but that is not the reader's doing.
 */
export function keepsToEnd(before: { top: number; sticks: boolean }, now: Place): boolean {
  if (isAtEnd(now)) return true;
  return before.sticks && now.top >= before.top;
}
