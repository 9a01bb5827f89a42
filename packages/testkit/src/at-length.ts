/**
 * Sets how many variants of a story the tests run. `npm test`, which runs before each commit, runs the essential
 * variant of each story; `npm run faults` runs every variant.
 */
import { test } from 'vitest';

export const atLength = process.env['FAULTS'] === 'long';

const unplayed = Object.assign(() => {}, { each: () => () => {} });

/** Declares a test that only `npm run faults` runs, because it is a variant of a story that another test covers. */
export const testAtLength = (atLength ? test : unplayed) as Pick<typeof test, 'each'> & typeof test;

/** In `npm run faults`, returns all entries; otherwise returns the entries with these names. */
export function partOf<T>(all: Record<string, T>, names: readonly string[]): [string, T][] {
  const unknown = names.filter((name) => !(name in all));
  if (unknown.length > 0) throw new Error(`There is no entry of this name: ${unknown.join(', ')}.`);
  return Object.entries(all).filter(([name]) => atLength || names.includes(name));
}

/** In `npm run faults`, returns all entries; otherwise returns the first `count` entries. */
export function firstOf<T>(count: number, all: readonly T[]): readonly T[] {
  return atLength ? all : all.slice(0, count);
}
