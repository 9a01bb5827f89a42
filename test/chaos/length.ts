/** How much chaos: in every test run a little, by `npm run chaos` at length. */
const isLong = process.env['FAULTS'] === 'long';

export const length = isLong
  ? { rounds: 8, sessions: 50, faults: 260 }
  : { rounds: 1, sessions: 50, faults: 100 };

/** What everything random follows from: always the same in short runs. `FAULTS_SEED` plays one that has failed. */
export const seed = Number(
  process.env['FAULTS_SEED'] ?? (isLong ? Date.now() % 2 ** 30 : 20_260_101),
);
