/** What is so much that others have a turn before it is dealt with, and after. */
import type { Response, StreamEvent } from '@liminal/protocol';
import { sizeOf } from '@liminal/protocol';

/** About the characters of what is done at once. */
const LARGE = 256 * 1024;
/** Events: each costs its readers more than its size tells. */
const MANY = 500;

export interface Batch {
  events: StreamEvent[];
  isLarge: boolean;
}

/** The first of the events that wait, as many as are written and shown at once; one that is larger goes alone. */
export function firstBatch(waiting: readonly StreamEvent[]): Batch {
  let size = 0;
  let count = 0;
  for (const { payload } of waiting) {
    size += sizeOf(payload, LARGE);
    if ((size > LARGE && count > 0) || count === MANY) break;
    count += 1;
  }
  return { events: waiting.slice(0, count), isLarge: size > LARGE || count === MANY };
}

export function isLargeRun({ outputItems }: Response): boolean {
  return sizeOf(outputItems, LARGE) > LARGE;
}
