/**
 * Puts one server under a mixed load for 30 minutes, or `npm run soak -- MINUTES`, and prints its memory over time.
 * Exits with 1 if the memory still rises in the last half, or if anything failed.
 */
import type { Counts } from './load.ts';
import { type Sample, slopeOfLastHalf } from './slope.ts';
import { soak } from './soak.ts';

const mostMibAMinute = 0.1;

const [wanted = '30', ...others] = process.argv.slice(2);
const minutes = Number(wanted);
if (!(minutes > 0 && minutes < Infinity) || others.length > 0) {
  console.error('How many minutes? `npm run soak -- MINUTES` takes one number above 0.');
  process.exit(2);
}

let printed = 0;
const { counts, samples } = await soak({
  minutes,
  onSample: (sample, soFar) => {
    if (sample.minutes < printed) return;
    printed += 1;
    console.log(describe(sample, soFar));
  },
  onError: (error) => console.error(error),
});
const used = slopeOfLastHalf(samples, 'usedMiB');
const resident = slopeOfLastHalf(samples, 'residentMiB');
console.log(`${counts.turns} turns, ${counts.connects} connects, ${counts.errors} errors`);
console.log(
  `In the last half, memory in use rose by ${used.toFixed(3)} MiB a minute (≤ ${mostMibAMinute}), resident by ${resident.toFixed(3)}.`,
);
process.exitCode = used <= mostMibAMinute && counts.errors === 0 ? 0 : 1;

function describe({ minutes: at, usedMiB, residentMiB }: Sample, soFar: Counts): string {
  return [
    `${at.toFixed(0).padStart(3)} min`,
    `${usedMiB.toFixed(2).padStart(8)} MiB in use`,
    `${residentMiB.toFixed(0).padStart(4)} resident`,
    `${soFar.turns} turns`,
    `${soFar.connects} connects`,
    `${soFar.errors} errors`,
  ].join('  ');
}
