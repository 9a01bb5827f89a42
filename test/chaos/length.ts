/** How much chaos: in every test run a little, by `npm run chaos` at length. */
const { FAULTS, FAULTS_SEED } = process.env;
const isLong = FAULTS === 'long';

export const length = isLong
  ? { rounds: FAULTS_SEED === undefined ? 8 : 1, sessions: 50, faults: 260 }
  : { rounds: 1, sessions: 4, faults: 14 };

/**
 * What everything random follows from: in short runs always this one, whose first faults are of every kind. `FAULTS_SEED`
 * plays one round that has failed.
 */
export const seed = Number(FAULTS_SEED ?? (isLong ? Date.now() % 2 ** 30 : 20_262_039));
