import { cutDepth } from '@liminal/protocol';

/** What a line says; undefined if it is no JSON. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(cutDepth(line));
  } catch {
    return undefined;
  }
}
