import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { Gate } from '../bench/soak/gate.ts';
import { type Sample, slopeOfLastHalf } from '../bench/soak/slope.ts';
import { soak } from '../bench/soak/soak.ts';

const main = fileURLToPath(new URL('../bench/soak/main.ts', import.meta.url));

/** Returns samples over ten minutes, ten per minute, with a noise of 1 MiB. */
const sampled = (usedAt: (minutes: number) => number): Sample[] =>
  Array.from({ length: 101 }, (_, index) => {
    const minutes = index / 10;
    return { minutes, usedMiB: usedAt(minutes) + ((index * 7) % 10) / 10, residentMiB: 200 };
  });

test('if a value first rises and then stays the same, its slope in the last half is zero', () => {
  const samples = sampled((minutes) => 40 + Math.min(minutes, 5) * 10);
  expect(Math.abs(slopeOfLastHalf(samples, 'usedMiB'))).toBeLessThan(0.02);
  expect(slopeOfLastHalf(samples, 'residentMiB')).toBe(0);
});

test('a leak is reported as its growth per minute, even if the growth is smaller than the noise of one sample', () => {
  const slope = slopeOfLastHalf(
    sampled((minutes) => 40 + minutes * 0.15),
    'usedMiB',
  );
  expect(slope).toBeGreaterThan(0.13);
  expect(slope).toBeLessThan(0.17);
});

test('the gate runs its action when everyone has left, and nobody can enter during the action', async () => {
  const gate = new Gate();
  const happened: string[] = [];
  const leave = Promise.withResolvers<void>();
  const first = gate.enter(async () => {
    await leave.promise;
    happened.push('first is out');
  });
  const measured = gate.whenEmpty(async () => void happened.push('measured'));
  const second = gate.enter(async () => void happened.push('second is in'));
  leave.resolve();
  await Promise.all([first, measured, second]);
  expect(happened).toEqual(['first is out', 'measured', 'second is in']);
});

testAtLength('a short run of the soak test’s load does not fail', async () => {
  const errors: unknown[] = [];
  const { counts, samples } = await soak({
    minutes: 0.1,
    onSample: () => {},
    onError: (error) => errors.push(error),
  });
  expect(errors).toEqual([]);
  expect(counts.turns).toBeGreaterThan(0);
  expect(counts.connects).toBeGreaterThan(0);
  for (const { usedMiB, residentMiB } of samples) {
    expect(usedMiB).toBeGreaterThan(0);
    expect(residentMiB).toBeGreaterThan(usedMiB);
  }
});

test.for([['never'], ['0'], ['3', '4']])(
  'the soak test rejects %j as a number of minutes, and prints its usage',
  async (args) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toBe('How many minutes? `npm run soak -- MINUTES` takes one number above 0.\n');
  },
);

async function run(args: string[]): Promise<{ code: unknown; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    );
  });
}
