import type { Stryker } from '@stryker-mutator/core';

/** Percent of the mutants of each area that tests must kill. */
const bound = 85;

/** For Stryker, whose report goes to the terminal. */
export const mutantOptions: ConstructorParameters<typeof Stryker>[0] = {
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutants/vitest.config.ts', related: false, pool: 'forks' },
  ignorePatterns: ['/bench', '/packages/web'],
  // A timeout counts as noticed, so a busy machine must not cause one.
  timeoutMS: 60_000,
  // The default of 5 minutes is too short for the tests of the loop on a busy machine.
  dryRunTimeoutMinutes: 20,
  // A mutant that takes effect when a file is loaded would need all tests again.
  ignoreStatic: true,
  // Stryker would rewrite it through TypeScript's former API, which version 7 lacks.
  tsconfigFile: 'none',
  // Not below node_modules, because Node does not strip the types of the workers there.
  tempDirName: '.cache/mutants',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false, reportTests: false },
  thresholds: { high: 95, low: bound, break: bound },
};
