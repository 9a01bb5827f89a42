/**
 * How long tests are played. `npm test`, which runs before each commit, plays of each story what proves it; `npm run
 * faults` plays every variant of it.
 */
import { test } from 'vitest';

export const atLength = process.env['FAULTS'] === 'long';

const unplayed = Object.assign(() => {}, { each: () => () => {} });

/** Declares a test that only `npm run faults` plays: a variant of a story that another test tells. */
export const testAtLength = (atLength ? test : unplayed) as Pick<typeof test, 'each'> & typeof test;

/** All at length, else those of these names. */
export function partOf<T>(all: Record<string, T>, names: readonly string[]): [string, T][] {
  const unknown = names.filter((name) => !(name in all));
  if (unknown.length > 0) throw new Error(`There is nothing of this name: ${unknown.join(', ')}.`);
  return Object.entries(all).filter(([name]) => atLength || names.includes(name));
}

/** All at length, else the first. */
export function firstOf<T>(count: number, all: readonly T[]): readonly T[] {
  return atLength ? all : all.slice(0, count);
}
