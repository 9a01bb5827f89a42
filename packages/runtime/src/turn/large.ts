/** Sizes from which other tasks run before and after an operation. */
import type { Response, StreamEvent } from '@liminal/protocol';
import { sizeOf } from '@liminal/protocol';

/** The approximate number of characters that are handled at once. */
const large = 256 * 1024;
/** A number of events: each costs subscribers more than its size suggests. */
const many = 500;

export interface Batch {
  events: StreamEvent[];
  isLarge: boolean;
}

/** The first waiting events, as many as are written and shown at once; a larger event is a batch of its own. */
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
