/** How long the faults are played: briefly in every test run, longer with `npm run faults`. */
const isLong = process.env['FAULTS'] === 'long';

export const length = isLong
  ? {
      readers: 200,
      stalled: 40,
      // This is nearly the most that a single item can hold.
      flood: { deltas: 16_000 * 60, rate: 16_000, lastsMs: 60_000 },
      items: 10_000,
      turns: 100,
      ends: 5,
      serverCrashes: 20,
      crashesAmid: 60,
      races: 40,
      duplicates: 10_000,
      requests: 20_000,
      hostile: 10_000,
      // Each kind of input is played for a minute in each half of the test: ten minutes in total.
      fuzz: { runs: 1_000_000, lastsMs: 60_000 },
    }
  : {
      readers: 30,
      stalled: 12,
      flood: { deltas: 600_000, rate: 0, lastsMs: 0 },
      items: 1_000,
      turns: 20,
      ends: 1,
      serverCrashes: 1,
      crashesAmid: 1,
      races: 2,
      duplicates: 400,
      requests: 800,
      hostile: 200,
      fuzz: { runs: 4, lastsMs: 60_000 },
    };

/**
 * The seed of random faults. In short runs, the seed is fixed. `FAULTS_SEED` repeats a seed that a failure has printed.
 */
export const seed = Number(
  process.env['FAULTS_SEED'] ?? (isLong ? Date.now() % 2 ** 31 : 20_260_101),
);

/** Returns how long a test with this number of rounds may take on a busy machine, in ms. */
export const patience = (rounds: number): number => 60_000 + rounds * 30_000;
