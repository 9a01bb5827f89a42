export interface Sample {
  /** The minutes since the start. */
  minutes: number;
  /** The server's memory in use after garbage collection, and its resident memory. */
  usedMiB: number;
  residentMiB: number;
}

/** Returns how fast one series rose over the last half of the time, in MiB a minute, by least squares. */
export function slopeOfLastHalf(
  samples: readonly Sample[],
  what: 'usedMiB' | 'residentMiB',
): number {
  const half = (samples.at(-1)?.minutes ?? 0) / 2;
  const late = samples.filter(({ minutes }) => minutes >= half);
  const time = mean(late.map(({ minutes }) => minutes));
  const size = mean(late.map((sample) => sample[what]));
  const rise = late.map((sample) => (sample.minutes - time) * (sample[what] - size));
  const spread = late.map(({ minutes }) => (minutes - time) ** 2);
  return mean(rise) / mean(spread);
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
