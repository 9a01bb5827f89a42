import { defineConfig } from 'vitest/config';

// Generous, because the slowest machine that must pass has two busy cores.
const timeouts = { unit: 20_000, integration: 120_000 };

/** `npm run faults`: what a run before each commit plays a part of is played whole. */
const atLength = process.env['FAULTS'] === 'long';

export default defineConfig({
  test: {
    // A child process per file: a test that leaks a handle or a variable cannot harm another file.
    pool: 'forks',
    setupFiles: ['test/property-seed.ts'],
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
          exclude: atLength ? [] : ['**/*.long.test.ts'],
          testTimeout: timeouts.integration,
          hookTimeout: timeouts.integration,
          // These start servers, agents and browsers: one file at a time, after the unit tests.
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
