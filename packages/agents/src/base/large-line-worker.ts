/** The worker thread of `large-lines.ts`. */
import { cutDepth } from '@liminal/protocol';
import { withFewValues } from './few-values.ts';
import { parseLine } from './parse-line.ts';

export function parse(line: string): unknown {
  const json = withFewValues(line);
  return json === undefined ? undefined : parseLine(json);
}

export function shorten(line: string): string {
  return withFewValues(cutDepth(line)) ?? '';
}
