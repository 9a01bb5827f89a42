/**
 * Tests for all providers: the shared suites, and texts that show whether faulty stream handling loses or repeats
 * pieces.
 */
export { openedSessions } from './opened-sessions.ts';
export { periodicTexts } from './periodic-texts.ts';
export { processSuite, type ProcessUnderTest } from './process-suite.ts';
export { providerSuite } from './provider-suite.ts';
export type { ProviderUnderTest } from './subject.ts';
export { loudEcho } from '../own/loop/testing/echo.ts';
export {
  type Act,
  calls,
  repliesWith,
  ScriptedClient,
} from '../own/loop/testing/scripted-client.ts';
