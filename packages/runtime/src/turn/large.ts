/** Limits of size. An operation beyond a limit lets other tasks run before and after it. */
import type { Response, StreamEvent } from '@liminal/protocol';
import { sizeOf } from '@liminal/protocol';

/** The approximate number of characters that are handled at once. */
const large = 256 * 1024;
/** The number of events that are handled at once: an event costs subscribers more than its characters. */
const many = 500;

export interface Batch {
  events: StreamEvent[];
  isLarge: boolean;
}

/**
 * Returns the first waiting events that together are small enough to be written and shown at once. A larger event is a
 * batch of its own.
 */
export function firstBatch(waiting: readonly StreamEvent[]): Batch {
  let size = 0;
  let count = 0;
  for (const { payload } of waiting) {
    size += sizeOf(payload, large);
    if ((size > large && count > 0) || count === many) break;
    count += 1;
  }
  return { events: waiting.slice(0, count), isLarge: size > large || count === many };
}

export function isLargeRun({ outputItems }: Response): boolean {
  return sizeOf(outputItems, large) > large;
}
