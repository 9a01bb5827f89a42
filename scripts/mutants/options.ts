import type { Stryker } from '@stryker-mutator/core';

/** The percentage of an area's mutants that the tests must kill. */
const bound = 85;

/** The options for Stryker. Stryker prints its report in the terminal. */
export const mutantOptions: ConstructorParameters<typeof Stryker>[0] = {
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutants/vitest.config.ts', related: false, pool: 'forks' },
  ignorePatterns: ['/bench', '/packages/web'],
  // A mutant that causes a timeout counts as noticed, so a busy machine must not cause a timeout.
  timeoutMS: 60_000,
  // On a busy machine, the tests of the tool loop take longer than the default of 5 minutes.
  dryRunTimeoutMinutes: 20,
  // Skip mutants that take effect when a file is loaded: each of these mutants would need a run of all tests.
  ignoreStatic: true,
  // Do not let Stryker rewrite tsconfig.json: Stryker would use TypeScript's former API, which version 7 lacks.
  tsconfigFile: 'none',
  // The folder must not be below node_modules, because Node does not strip types from files below node_modules.
  tempDirName: '.cache/mutants',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false, reportTests: false },
  thresholds: { high: 95, low: bound, break: bound },
};
