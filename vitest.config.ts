import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// In ms. The slowest machine that must pass has two busy cores.
const timeouts = { unit: 20_000, integration: 120_000 };

/** Whether this is `npm run faults`, which runs in full what a run before a commit runs in part. */
const atLength = process.env['FAULTS'] === 'long';

/** One more than the number of cores, because tests wait while their servers, agents and browsers work. */
const maxWorkers = atLength ? 1 : availableParallelism() + 1;

const long = atLength ? [] : ['**/*.long.test.ts'];
/** Tests that replace a module, for all files of their process. */
const mocking = [
  'packages/agents/test/claude-code/turns.test.ts',
  'test/faults/hostile/claude.test.ts',
];
/** A separate project, because `npm run faults` leaves it out: `npm run chaos` runs it. */
const chaos = 'test/chaos/*.test.ts';
/** Tests with a program that must be built first: `npm run llama` runs them. */
const llama = 'test/llama/*.test.ts';
/** Tests that measure time, or the memory of a whole process, and so need the machine for themselves. */
const alone = [
  // Its diagram keeps a whole core busy.
  'packages/web/test/endless-diagram.test.ts',
  'packages/web/test/markdown-bombs.test.ts',
  'test/faults/long-session.test.ts',
  'test/soak.test.ts',
];

/** The files that take longest. They start first: otherwise each would still run alone after all others have ended. */
const longest = [
  'packages/agents/test/models/hostile-model-server',
  'packages/web/test/long-conversation',
  'packages/server/test/request-bodies',
  'test/chaos/chaos',
];

/** Without results of an earlier run, Vitest starts the largest files first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      longest.some((one) => moduleId.endsWith(`/${one}.test.ts`));
    return [...sorted.filter(isLong), ...sorted.filter((one) => !isLong(one))];
  }
}

export default defineConfig({
  test: {
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/property-seed.ts'],
    // The default of a second is too short while two browsers start.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.{ts,tsx}',
            'scripts/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
          testTimeout: timeouts.unit,
          hookTimeout: timeouts.unit,
          // Loading every module again for each file would take nearly half of the time.
          isolate: atLength,
          // All cores; the default leaves one idle.
          maxWorkers: '100%',
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['packages/*/test/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
          exclude: [...long, ...alone, ...mocking, chaos, llama],
          testTimeout: timeouts.integration,
          hookTimeout: timeouts.integration,
          // Files share a few processes, each with a browser: starting them costs a fifth of the tests' time.
          isolate: atLength,
          maxWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'mocking',
          include: mocking,
          testTimeout: timeouts.integration,
          hookTimeout: timeouts.integration,
          maxWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'chaos',
          include: [chaos],
          testTimeout: timeouts.integration,
          hookTimeout: timeouts.integration,
          maxWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      ...(process.env['LLAMA_SERVER']
        ? [
            {
              extends: true as const,
              test: {
                name: 'llama',
                include: [llama],
                testTimeout: timeouts.integration,
                hookTimeout: timeouts.integration,
                maxWorkers: 1,
                sequence: { groupOrder: 4 },
              },
            },
          ]
        : []),
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone,
          exclude: long,
          testTimeout: timeouts.integration,
          hookTimeout: timeouts.integration,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
