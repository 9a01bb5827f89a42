import { afterEach, beforeEach } from 'vitest';
import { boardSuite, inboxSuite } from './messages-suite.ts';
import { leaseSuite } from './lease-suite.ts';
import { registrySuite } from './registry-suite.ts';
import type { Setup, SubjectUnderTest, TwoServers } from './subject.ts';
import { tasksSuite } from './tasks-suite.ts';
import { writersSuite } from './writers-suite.ts';

/** Tests the contract of every Coordination. */
export function coordinationSuite(setup: Setup<TwoServers>): void {
  let under: SubjectUnderTest<TwoServers>;
  beforeEach(async () => {
    under = await setup();
  });
  afterEach(async () => under.teardown());
  const servers = () => under.subject;
  leaseSuite(servers);
  boardSuite(servers);
  inboxSuite(servers);
  registrySuite(servers);
  tasksSuite(servers);
  writersSuite(servers);
}
