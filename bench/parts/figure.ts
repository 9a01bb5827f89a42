/** A measured figure with its bound. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  bound: Bound;
  /** The circumstances of the measurement, or the values that were compared. */
  detail: string;
  /** The measurements from which the value was computed, in the same unit. */
  samples?: readonly number[];
  /**
   * The interval that would contain the value of another run of this kind in 95 of 100 cases, estimated from these
   * samples.
   */
  interval?: Interval;
  floor?: Floor;
}

export type Bound = { atMost: number } | { atLeast: number };
export type Interval = readonly [low: number, high: number];

/** The floor: the values with which a figure was compared in the same run. */
export interface Floor {
  /** The unit of these samples and of the limit. */
  unit: string;
  samples: readonly number[];
  ours: readonly number[];
  /**
   * The limit with which Liminal's samples are compared. If the samples' value at the figure's percentile were equal to
   * this limit, the figure would just meet its bound.
   */
  limit: number;
}

/** Two compared values, the second measured directly after the first. */
export interface Pair {
  floor: number;
  ours: number;
}

/** Two series of measurements that are compared. */
export interface Compared {
  floor: readonly number[];
  ours: readonly number[];
}

export function meets({ value, bound }: Pick<Figure, 'value' | 'bound'>): boolean {
  return 'atMost' in bound ? value <= bound.atMost : value >= bound.atLeast;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN;
}

/** Returns a percentile of samples as the value of a figure. */
export function percentileOf(samples: readonly number[], p: number) {
  return { value: percentile(samples, p), samples, interval: intervalOf(samples, p) };
}

/** Returns the smallest of a few samples as the value of a figure, for values that disturbances can only increase. */
export function bestOf(samples: readonly number[]) {
  const interval: Interval = [Math.min(...samples), Math.max(...samples)];
  return { value: interval[0], samples, interval };
}

/** Returns Liminal's time as a multiple of the floor's time: the median of the pairs. */
export function ratioOf(pairs: readonly Pair[], atMost: number, unit = 'ms') {
  const ratios = pairs.map(({ floor, ours }) => ours / floor);
  const samples = pairs.map(({ floor }) => floor);
  return {
    ...percentileOf(ratios, 50),
    unit: '×',
    bound: { atMost },
    floor: { unit, samples, ours: pairs.map(({ ours }) => ours), limit: median(samples) * atMost },
  };
}

/** Returns Liminal's rate as a share of the floor's rate, in %: the median of the pairs. */
export function shareOf(pairs: readonly Pair[], atLeast: number, unit: string) {
  const shares = pairs.map(({ floor, ours }) => (ours / floor) * 100);
  const samples = pairs.map(({ floor }) => floor);
  const limit = (median(samples) * atLeast) / 100;
  return {
    ...percentileOf(shares, 50),
    unit: '%',
    bound: { atLeast },
    floor: { unit, samples, ours: pairs.map(({ ours }) => ours), limit },
  };
}

/** Returns Liminal's time as a multiple of the floor's time, both at the same percentile. */
export function quotientOf({ floor, ours }: Compared, p: number, atMost: number) {
  const [a, b] = [percentile(floor, p), percentile(ours, p)];
  const [low, high] = intervalOf(floor, p);
  const [ourLow, ourHigh] = intervalOf(ours, p);
  const interval: Interval = [ourLow / high, ourHigh / low];
  return {
    value: b / a,
    unit: '×',
    bound: { atMost },
    interval,
    floor: { unit: 'ms', samples: floor, ours, limit: a * atMost },
  };
}

/** Returns how much more time Liminal takes than the floor, in ms: the difference of their values at a percentile. */
export function addedOf({ floor, ours }: Compared, p: number, atMost: number) {
  const [a, b] = [percentile(floor, p), percentile(ours, p)];
  const [low, high] = intervalOf(floor, p);
  const [ourLow, ourHigh] = intervalOf(ours, p);
  const interval: Interval = [ourLow - high, ourHigh - low];
  return {
    value: b - a,
    unit: 'ms',
    bound: { atMost },
    interval,
    floor: { unit: 'ms', samples: floor, ours, limit: a + atMost },
  };
}

/**
 * Returns the interval that contains a percentile in 95 of 100 cases, computed from the ranks of the samples (the
 * binomial distribution, approximated by the normal distribution), without assumptions about the samples' distribution.
 * For seven or fewer samples, returns the whole range of the samples.
 */
export function intervalOf(samples: readonly number[], p: number): Interval {
  const sorted = samples.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  const rank = (sorted.length * p) / 100;
  const around = 1.96 * Math.sqrt(rank * (1 - p / 100));
  const at = (index: number): number => sorted[Math.min(last, Math.max(0, index))] ?? Number.NaN;
  return [at(Math.floor(rank - around)), at(Math.floor(rank + around))];
}

/** Runs a function `count` times, each time after the previous run has ended. */
export async function repeat<T>(times: number, run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < times; i++) results.push(await run());
  return results;
}
