/** Plays hostile input, and measures what it costs. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect } from 'vitest';
import { length, seed } from '../length.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Far from what is measured, so that a busy machine does not fail. */
const maxStallMs = 4_000;
const maxGrowth = 96 * 1024 * 1024;
/** An input that takes longer hangs (ms). */
const inputLimit = 20_000;

/** What one input has cost; all of it is asserted for each. */
export interface Cost {
  /** Characters of the input, and of what is stored of it where something is. */
  said: number;
  stored?: number;
}

/** The share of `all` inputs that a run has, in percent. */
export const share = (percent: number): number => Math.ceil((length.hostile * percent) / 100);

/**
 * Plays `count` hostile inputs one after the other. Each may hold the event loop for so long, and leave so much in the
 * store; all together may leave so much in memory.
 */
export async function playHostile<T>(
  count: number,
  inputs: fc.Arbitrary<T>,
  play: (input: T) => Promise<Cost>,
): Promise<void> {
  const [first] = fc.sample(inputs, { seed, numRuns: 1 });
  // What is loaded at first use stays.
  if (first !== undefined) await play(first);
  const before = usedMemory();
  const worst = { stallMs: 0, stored: 0 };
  const property = fc.asyncProperty(inputs, async (input) => {
    const stalls = monitorEventLoopDelay({ resolution: 5 });
    stalls.enable();
    const { said, stored = 0 } = await play(input);
    // What held the loop last is noted when it turns.
    await turn();
    await turn();
    stalls.disable();
    const stallMs = Math.round(stalls.max / 1e6);
    worst.stallMs = Math.max(worst.stallMs, stallMs);
    worst.stored = Math.max(worst.stored, stored / said);
    expect(stallMs, 'longest stall, ms').toBeLessThan(maxStallMs);
    expect(stored, `stored of ${said} characters`).toBeLessThan(3 * said + 1024 * 1024);
  });
  // A failure is made smaller for as long, and no longer.
  const limit = { interruptAfterTimeLimit: count * 1_000 + 60_000, markInterruptAsFailure: true };
  await fc.assert(property, { ...limit, timeout: inputLimit, seed, numRuns: count });
  const growth = usedMemory() - before;
  expect(growth, `memory that is left in use; ${JSON.stringify(worst)}`).toBeLessThan(maxGrowth);
  expect(Object.prototype, 'what all objects inherit').not.toHaveProperty('polluted');
}

function usedMemory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
