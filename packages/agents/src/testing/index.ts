/** For tests of providers: the suites that they run. */
export { processSuite, type ProcessUnderTest } from './process-suite.ts';
export { providerSuite } from './provider-suite.ts';
export type { ProviderUnderTest } from './subject.ts';
