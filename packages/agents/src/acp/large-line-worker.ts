/** Runs in a thread of its own: see `large-lines.ts`. */
import { withFewValues } from './few-values.ts';
import { parseLine } from './parse-line.ts';

export default function readLargeLine(line: string): unknown {
  const json = withFewValues(line);
  return json === undefined ? undefined : parseLine(json);
}
