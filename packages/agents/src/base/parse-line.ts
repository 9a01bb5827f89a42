import { cutDepth } from '@liminal/protocol';

/** A line's value; undefined if it is not JSON. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(cutDepth(line));
  } catch {
    return undefined;
  }
}
