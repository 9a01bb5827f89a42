import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Generous, because the slowest machine that must pass has two busy cores.
const timeouts = { unit: 20_000, integration: 120_000 };

/** `npm run faults`: what a run before each commit plays a part of is played whole. */
const atLength = process.env['FAULTS'] === 'long';

const long = atLength ? [] : ['**/*.long.test.ts'];
/** What these look at is the whole machine: its time, its memory. */
const alone = [
  'packages/web/test/markdown-bombs.test.ts',
  'test/faults/{hostile/*,hostile-*,idle-memory,input,long-session,readers}.test.ts',
  'test/chaos/**/*.test.ts',
  'test/soak.test.ts',
];
/** Replaces a module, which files that share a process would keep. */
const replacing = ['packages/agents/test/claude-code/interrupt.test.ts'];
const integration = {
  testTimeout: timeouts.integration,
  hookTimeout: timeouts.integration,
};
/** These wait for the servers, agents and browsers that they start: one file more than cores; two more gain nothing. */
const beside = {
  ...integration,
  maxWorkers: atLength ? 1 : availableParallelism() + 1,
  sequence: { groupOrder: 2 },
};

export default defineConfig({
  test: {
    // Child processes. Files share them, as to load all modules anew for each file is a tenth of a run.
    pool: 'forks',
    isolate: atLength,
    setupFiles: ['test/property-seed.ts'],
    // As generous: the default of a second is short where two browsers start.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts'],
          testTimeout: timeouts.unit,
          hookTimeout: timeouts.unit,
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
          exclude: [...long, ...alone, ...replacing],
          ...beside,
        },
      },
      {
        extends: true,
        test: { name: 'replacing', include: replacing, isolate: true, ...beside },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone,
          exclude: long,
          isolate: true,
          ...integration,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
