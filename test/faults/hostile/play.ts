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
/** An input that takes longer than this is treated as hanging, in ms. */
const inputLimit = 20_000;

/** The cost of one input. The test checks every value. */
export interface Cost {
  /** How many characters the input has. If the input is stored, also how many characters its stored form has. */
  inputSize: number;
  stored?: number;
}

/** Returns how many of `all` inputs one run plays, for a share given in percent. */
export const share = (percent: number): number => Math.ceil((length.hostile * percent) / 100);

/**
 * Plays `count` hostile inputs one after another. Checks how long each input blocks the event loop, how much each input
 * stores, and how much memory all inputs together leave in use.
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
    // Wait for two turns of the event loop, because a stall is recorded only in the turn after it.
    await turn();
    await turn();
    stalls.disable();
    const stallMs = Math.round(stalls.max / 1e6);
    worst.stallMs = Math.max(worst.stallMs, stallMs);
    worst.stored = Math.max(worst.stored, stored / inputSize);
    expect(stallMs, 'longest stall, ms').toBeLessThan(maxStallMs);
    expect(stored, `stored of ${inputSize} characters`).toBeLessThan(3 * inputSize + 1024 * 1024);
  });
  // The time for shrinking a failed input is limited to this value.
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
