/** Returns a number from 0 up to, but not including, 1. */
export type Random = () => number;

/** Returns a generator (mulberry32) that gives the same numbers for the same seed. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns an integer from 0 up to, but not including, `limit`. */
export const below = (limit: number, random: Random): number => Math.floor(random() * limit);

export function pick<T>(list: readonly T[], random: Random): T {
  const picked = list[below(list.length, random)];
  if (picked === undefined) throw new Error('There is nothing to pick from.');
  return picked;
}
