/** One measured figure and the bound it is held to. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  bound: { atMost: number } | { atLeast: number };
  /** What it was measured on or compared with. */
  detail: string;
}

export function meets({ value, bound }: Figure): boolean {
  return 'atMost' in bound ? value <= bound.atMost : value >= bound.atLeast;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN;
}

/** Runs something so many times, one after the other. */
export async function repeat<T>(times: number, run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < times; i++) results.push(await run());
  return results;
}
