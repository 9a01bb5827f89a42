/** A stream of protocol lines, most of them broken: the same for the same seed. */
import { mutate } from './mutate.ts';
import { below, pick, seeded } from './random.ts';
import { sampleLines } from './sample-lines.ts';

export interface Fuzz {
  seed: number;
  /** How many lines. */
  count: number;
}

/** The share of lines that stay valid: the broken lines must meet turns and calls that valid lines have begun. */
const wholeShare = 0.25;
/** The share of lines that are delayed, and come after later ones. */
const lateShare = 0.1;

/** Lines for one session. The requests among them do no harm if the client grants them. */
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
