/** How much chaos: in every test run a little, by `npm run chaos` at length. */
const isLong = process.env['FAULTS'] === 'long';

export const length = {
  rounds: isLong ? Number(process.env['CHAOS_ROUNDS'] ?? 20) : 1,
  sessions: Number(process.env['CHAOS_SESSIONS'] ?? 50),
  faults: Number(process.env['CHAOS_FAULTS'] ?? 100),
};

/** What everything random follows from: always the same in short runs. `FAULTS_SEED` plays one that has failed. */
export const seed = Number(
  process.env['FAULTS_SEED'] ?? (isLong ? Date.now() % 2 ** 30 : 20_260_101),
);
