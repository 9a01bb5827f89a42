import type { Stryker } from '@stryker-mutator/core';

/** What is mutated. */
export const mutated = {
  files: [
    'packages/protocol/src/**/*.ts',
    'packages/agents/src/{acp,claude-code}/translate/**/*.ts',
  ],
  without: { exclude: ['**/*.test.ts', '**/testing/**'] },
};

/** Percent of the mutants that tests must kill. */
const bound = 85;

/** For Stryker, whose report goes to the terminal. */
export const mutantOptions: ConstructorParameters<typeof Stryker>[0] = {
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutants/vitest.config.ts', related: false },
  ignorePatterns: ['/bench', '/packages/web'],
  concurrency: 2,
  // One that takes hold as a file is loaded would need all tests anew.
  ignoreStatic: true,
  // It would be rewritten by TypeScript's former interface, which version 7 lacks.
  tsconfigFile: 'none',
  incrementalFile: 'node_modules/.cache/mutants/results.json',
  tempDirName: 'node_modules/.cache/mutants/sandbox',
  reporters: ['clear-text'],
  clearTextReporter: { logTests: false, reportTests: false },
  thresholds: { high: 95, low: bound, break: bound },
};
