import { cutDepth } from '@liminal/protocol';

/** Parses a line, and limits the depth of the value. Returns undefined if the line is not JSON. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(cutDepth(line));
  } catch {
    return undefined;
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
