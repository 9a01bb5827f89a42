import { createHash } from 'node:crypto';
import fc from 'fast-check';

/** The next action of the agent in a turn. */
export type Step =
  | { kind: 'say' | 'think' | 'withdraw' | 'fail'; words: number; everyMs: number }
  | { kind: 'tool'; words: number; everyMs: number }
  | { kind: 'ask' }
  | { kind: 'pause'; ms: number };

export interface TurnScript {
  steps: Step[];
  /** `crash`: the agent's process ends without an error message. */
  ending: 'completed' | 'error' | 'crash';
}

const streamedStep = (kind: 'say' | 'think' | 'withdraw' | 'fail' | 'tool', max: number) =>
  fc.record({
    kind: fc.constant(kind),
    words: fc.integer({ min: 1, max }),
    everyMs: fc.integer({ min: 0, max: 60 }),
  });

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: streamedStep('say', 25), weight: 6 },
  { arbitrary: streamedStep('think', 10), weight: 2 },
  { arbitrary: streamedStep('tool', 8), weight: 3 },
  { arbitrary: streamedStep('withdraw', 4), weight: 1 },
  { arbitrary: streamedStep('fail', 4), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('ask' as const) }), weight: 1 },
  {
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      ms: fc.integer({ min: 1, max: 800 }),
    }),
    weight: 2,
  },
);

/** This is more than the number of events that the log keeps of a projected run. */
const flood: fc.Arbitrary<Step> = fc.constant({ kind: 'say', words: 250, everyMs: 12 });

const turnScript: fc.Arbitrary<TurnScript> = fc.record({
  steps: fc.oneof(
    { arbitrary: fc.array(step, { minLength: 1, maxLength: 6 }), weight: 14 },
    { arbitrary: fc.tuple(flood, step), weight: 1 },
  ),
  ending: fc.oneof(
    { arbitrary: fc.constant('completed' as const), weight: 12 },
    { arbitrary: fc.constant('error' as const), weight: 1 },
    { arbitrary: fc.constant('crash' as const), weight: 1 },
  ),
});

/** Returns the agent's actions for a message. The actions are the same on every server. */
export function turnScriptOf(message: string): TurnScript {
  const seed = createHash('sha256').update(message).digest().readInt32LE();
  const [script] = fc.sample(turnScript, { seed, numRuns: 1, unbiased: true });
  return script ?? { steps: [], ending: 'completed' };
}

/**
 * Returns how the agent handles a steered message: the agent takes the message after some time, or begins a turn for
 * the message later.
 */
export function takesUp(message: string): { isOwnTurn: boolean; afterMs: number } {
  const [first = 0, second = 0] = createHash('sha256').update(message).digest();
  return { isOwnTurn: first % 3 === 0, afterMs: second * 4 };
}
