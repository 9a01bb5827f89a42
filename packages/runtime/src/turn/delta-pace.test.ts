import { expect, test } from 'vitest';
import { DeltaPace } from './delta-pace.ts';

function paceAt(cadenceMs: number) {
  const clock = { now: 1_000 };
  return { clock, pace: new DeltaPace(cadenceMs, () => clock.now) };
}

test('while appends are cheap, no run gathers deltas', () => {
  const { clock, pace } = paceAt(33);
  for (let i = 0; i < 10_000; i++) {
    expect(pace.wait(clock.now)).toBeLessThanOrEqual(0);
    // A run that appends every 5 ms; each append takes 0.2 ms.
    pace.spent(0.2);
    clock.now += 5;
  }
});

test('the more an append costs, the longer deltas are gathered, up to the cadence', () => {
  const { clock, pace } = paceAt(33);
  const waits: number[] = [];
  let lastAt = clock.now;
  for (let i = 0; i < 100; i++) {
    const wait = Math.max(0, pace.wait(lastAt));
    waits.push(wait);
    clock.now += wait;
    lastAt = clock.now;
    pace.spent(2);
    clock.now += 2;
  }
  expect(Math.max(...waits)).toBeLessThanOrEqual(33);
  // Appends took a tenth of the time, in addition to the time that was saved at the start.
  const share = (100 * 2) / (clock.now - 1_000);
  expect(share).toBeGreaterThan(0.08);
  expect(share).toBeLessThan(0.12);
});

test('many runs together spend no more time on appends than one run', () => {
  const { clock, pace } = paceAt(33);
  const lastAts = Array.from({ length: 50 }, () => clock.now);
  const dues: (number | undefined)[] = lastAts.map(() => undefined);
  let appends = 0;
  // Each of 50 runs has a delta every millisecond, and an append costs 0.2 ms.
  for (let ms = 0; ms < 2_000; ms++) {
    for (const [run, lastAt] of lastAts.entries()) {
      const due = dues[run];
      if (due !== undefined && due > clock.now) continue;
      const wait = due === undefined ? pace.wait(lastAt) : 0;
      if (wait > 0) dues[run] = clock.now + wait;
      else {
        appends += 1;
        pace.spent(0.2);
        lastAts[run] = clock.now;
        dues[run] = undefined;
      }
    }
    clock.now += 1;
  }
  // If deltas were gathered for the whole cadence, there would be 50 × 2,000 / 33 appends; if they were not gathered,
  // 100,000.
  expect(appends).toBeLessThan(2 * ((50 * 2_000) / 33));
});

test('after a long append, other runs wait for one cadence at most', () => {
  const { clock, pace } = paceAt(33);
  pace.spent(5_000);
  expect(pace.wait(clock.now)).toBe(33);
  clock.now += 33;
  expect(pace.wait(clock.now)).toBeLessThanOrEqual(0);
});

test('with a cadence of 0 nothing is gathered', () => {
  const { clock, pace } = paceAt(0);
  pace.spent(5_000);
  expect(pace.gathers).toBe(false);
  expect(pace.wait(clock.now)).toBeLessThanOrEqual(0);
});
