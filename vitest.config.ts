import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Generous, because the slowest machine that must pass has two busy cores.
const timeouts = { unit: 20_000, integration: 120_000 };

/** `npm run faults`: what a run before each commit plays a part of is played whole. */
const atLength = process.env['FAULTS'] === 'long';

/** One more than there are cores: tests wait while their servers, agents and browsers work. */
const maxWorkers = atLength ? 1 : availableParallelism() + 1;

const long = atLength ? [] : ['**/*.long.test.ts'];
/** These put a module of their own in the place of another, for all files of their process. */
const mocking = [
  'packages/agents/test/claude-code/turns.test.ts',
  'test/faults/hostile/claude.test.ts',
];
/** Of its own, so that `npm run faults` can do without it: `npm run chaos` plays it. */
const chaos = 'test/chaos/*.test.ts';
/** Of a program that must be built first: `npm run llama` plays it. */
const llama = 'test/llama/*.test.ts';
/** These measure time, or a process' whole memory, more closely than a busy machine lets them. */
const alone = [
  // A frame that never rests takes a whole core.
  'packages/web/test/endless-diagram.test.ts',
  'packages/web/test/markdown-bombs.test.ts',
  'test/faults/long-session.test.ts',
  'test/soak.test.ts',
];

/** The longest: begun last, each would run on alone when all others are done. */
const longest = ['test/e2e/agents', 'packages/web/test/long-conversation', 'test/chaos/chaos'];

/** Without a run before to go by, Vitest takes the largest files first. */
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
    // As generous: the default of a second is short where two browsers start.
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
          // To load every module anew for each file would take nearly half of their time.
          isolate: atLength,
          // Every core; the default leaves one idle.
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
          // Files share a few processes, and a browser in each: to start them costs a fifth of all that the tests do.
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
