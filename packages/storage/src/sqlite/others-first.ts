import { setImmediate as othersFirst } from 'node:timers/promises';

/** Characters of JSON that take so long to make or to write that others have a turn afterwards. */
const LARGE = 256 * 1024;

export function isLarge(json: string): boolean {
  return json.length > LARGE;
}

/** Everybody shares the one thread: resolves when what waits for it has had its turn. */
export { othersFirst };
