/** Makes a stream of protocol lines, most of them broken. The same seed gives the same lines. */
import { mutate } from './mutate.ts';
import { below, pick, seeded } from './random.ts';
import { sampleLines } from './sample-lines.ts';

export interface Fuzz {
  seed: number;
  /** How many lines. */
  count: number;
}

/** The share of lines that stay valid. The valid lines begin turns and calls, which the broken lines then meet. */
const wholeShare = 0.25;
/** The share of lines that are delayed, so that they come after later lines. */
const lateShare = 0.1;

/** Yields lines for one session. If the client grants the requests among them, they do no harm. */
export function* fuzzLines({ seed, count }: Fuzz, sessionId: unknown): Generator<string> {
  const random = seeded(seed);
  const valid = sampleLines(sessionId);
  const late: string[] = [];
  for (let made = 0; made < count;) {
    const line = pick(valid, random);
    const lines = random() < wholeShare ? [line] : mutate(line, random);
    if (random() < lateShare) {
      late.push(...lines);
      continue;
    }
    lines.push(...late.splice(below(late.length + 1, random)));
    for (const one of lines.slice(0, count - made)) yield one;
    made += lines.length;
  }
}
