/** One measured figure and the bound it is held to. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  bound: Bound;
  /** What it was measured on or compared with. */
  detail: string;
  /** What the value is made of, in its unit. */
  samples?: readonly number[];
  /** Where the value of another such run would be in 95 of 100 cases, as far as these samples can tell. */
  interval?: Interval;
  floor?: Floor;
}

export type Bound = { atMost: number } | { atLeast: number };
export type Interval = readonly [low: number, high: number];

/** What a figure was compared with in the same run. */
export interface Floor {
  /** That of the samples here and of the limit. */
  unit: string;
  samples: readonly number[];
  ours: readonly number[];
  /** Where ours meet the figure's bound, at the percentile that the figure is of. */
  limit: number;
}

/** What is compared, measured one right after the other. */
export interface Pair {
  floor: number;
  ours: number;
}

/** What is compared, each measured many times. */
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

/** A percentile of samples, as the value of a figure. */
export function percentileOf(samples: readonly number[], p: number) {
  return { value: percentile(samples, p), samples, interval: intervalOf(samples, p) };
}

/** The least of a few samples, where all that disturbs makes them more. */
export function bestOf(samples: readonly number[]) {
  const interval: Interval = [Math.min(...samples), Math.max(...samples)];
  return { value: interval[0], samples, interval };
}

/** How many times the floor's time ours is: the median of the pairs. */
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

/** What share of the floor's rate ours is, in %: the median of the pairs. */
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

/** How many times the floor's time ours is, at a percentile of each. */
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

/** How many ms more than the floor ours take, at a percentile of each. */
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
 * Where a percentile lies in 95 of 100 cases, by the ranks of the samples (the binomial distribution, approximated by
 * the normal one): nothing is assumed of how they are distributed. Of seven or fewer it is all that they span.
 */
export function intervalOf(samples: readonly number[], p: number): Interval {
  const sorted = samples.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  const rank = (sorted.length * p) / 100;
  const around = 1.96 * Math.sqrt(rank * (1 - p / 100));
  const at = (index: number): number => sorted[Math.min(last, Math.max(0, index))] ?? Number.NaN;
  return [at(Math.floor(rank - around)), at(Math.floor(rank + around))];
}

/** Runs something so many times, one after the other. */
export async function repeat<T>(times: number, run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < times; i++) results.push(await run());
  return results;
}
