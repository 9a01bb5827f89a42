/** How many faults the test plays: a few in every test run, more with `npm run chaos`. */
const { FAULTS, FAULTS_SEED } = process.env;
const isLong = FAULTS === 'long';

export const length = isLong
  ? { rounds: FAULTS_SEED === undefined ? 8 : 1, sessions: 50, faults: 260 }
  : { rounds: 1, sessions: 4, faults: 14 };

/**
 * The seed of all random choices. In short runs, the seed is fixed, and the first faults are of every kind.
 * `FAULTS_SEED` repeats a failed round.
 */
export const seed = Number(FAULTS_SEED ?? (isLong ? Date.now() % 2 ** 30 : 20_262_039));
