/** What counts as so large that other work gets a turn before and after it. */
import type { Response, StreamEvent } from '@liminal/protocol';
import { sizeOf } from '@liminal/protocol';

/** About the characters that are handled at once. */
const LARGE = 256 * 1024;
/** Events: each costs readers more than its size says. */
const MANY = 500;

export interface Batch {
  events: StreamEvent[];
  isLarge: boolean;
}

/** The first waiting events, as many as are written and shown at once; a larger event goes alone. */
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
