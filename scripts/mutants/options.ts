import type { Stryker } from '@stryker-mutator/core';

/** Percent of the mutants of each area that tests must kill. */
const bound = 85;

/** For Stryker, whose report goes to the terminal. */
export const mutantOptions: ConstructorParameters<typeof Stryker>[0] = {
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutants/vitest.config.ts', related: false, pool: 'forks' },
  ignorePatterns: ['/bench', '/packages/web'],
  // A busy machine must not pass for a test that has noticed.
  timeoutMS: 60_000,
  // One that takes hold as a file is loaded would need all tests anew.
  ignoreStatic: true,
  // It would be rewritten by TypeScript's former interface, which version 7 lacks.
  tsconfigFile: 'none',
  // Not below node_modules: Node does not strip the types of the workers there.
  tempDirName: '.cache/mutants',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false, reportTests: false },
  thresholds: { high: 95, low: bound, break: bound },
};
