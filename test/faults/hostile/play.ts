/** Plays hostile input, and measures its cost. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect } from 'vitest';
import { length, seed } from '../length.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The limit is far above the measured value, so that the test does not fail on a busy machine. */
const maxStallMs = 4_000;
const maxGrowth = 96 * 1024 * 1024;
/** An input that takes longer counts as hanging (ms). */
const inputLimit = 20_000;

/** The cost of one input; every value is asserted. */
export interface Cost {
  /** Characters of the input and, if it is stored, of its stored form. */
  inputSize: number;
  stored?: number;
}

/** The share of `all` inputs that a run has, in percent. */
export const share = (percent: number): number => Math.ceil((length.hostile * percent) / 100);

/**
 * Plays `count` hostile inputs one after the other. Checks how long each input blocks the event loop, how much each
 * input stores, and how much memory all inputs together leave in use.
 */
export async function playHostile<T>(
  count: number,
  inputs: fc.Arbitrary<T>,
  play: (input: T) => Promise<Cost>,
): Promise<void> {
  const [first] = fc.sample(inputs, { seed, numRuns: 1 });
  // Modules that are loaded at first use stay in memory.
  if (first !== undefined) await play(first);
  const before = usedMemory();
  const worst = { stallMs: 0, stored: 0 };
  const property = fc.asyncProperty(inputs, async (input) => {
    const stalls = monitorEventLoopDelay({ resolution: 5 });
    stalls.enable();
    const { inputSize, stored = 0 } = await play(input);
    // Wait two turns of the loop, because a stall is recorded only at the turn after it.
    await turn();
    await turn();
    stalls.disable();
    const stallMs = Math.round(stalls.max / 1e6);
    worst.stallMs = Math.max(worst.stallMs, stallMs);
    worst.stored = Math.max(worst.stored, stored / inputSize);
    expect(stallMs, 'longest stall, ms').toBeLessThan(maxStallMs);
    expect(stored, `stored of ${inputSize} characters`).toBeLessThan(3 * inputSize + 1024 * 1024);
  });
  // Shrinking of a failure is limited to this time.
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
