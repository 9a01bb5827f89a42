import { afterEach, beforeEach } from 'vitest';
import type { Coordination } from '../coordination.ts';
import type { EventLog } from '../event-log.ts';
import { boardSuite, inboxSuite } from './messages-suite.ts';
import { leaseSuite } from './lease-suite.ts';
import { registrySuite } from './registry-suite.ts';
import type { Setup, SubjectUnderTest } from './subject.ts';
import { tasksSuite } from './tasks-suite.ts';
import { writersSuite } from './writers-suite.ts';

/** What one server uses. */
export interface Server {
  log: EventLog;
  coordination: Coordination;
}

/** Two servers that share a log. */
export interface TwoServers {
  one: Server;
  two: Server;
}

/** The contract of every Coordination. */
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
