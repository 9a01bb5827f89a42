import type { Coordination } from '../coordination.ts';
import type { EventLog } from '../event-log.ts';
import { atLength } from '@liminal/testkit/at-length';

/** What a driver provides for a suite: a fresh subject per test. */
export interface SubjectUnderTest<Subject> {
  subject: Subject;
  teardown: () => Promise<void>;
  /** Closes it and opens it again on its data; absent for a driver without persistence. */
  reopen?: () => Promise<Subject>;
}

export type Setup<Subject> = () => Promise<SubjectUnderTest<Subject>>;

/** How a suite is played before each commit: whole, or fewer runs and smaller sizes where a quicker driver plays it whole. */
export type Extent = 'whole' | 'part';

/** One of two amounts; at length always the whole one. */
export function amountOf(extent: Extent, { whole, part }: Record<Extent, number>): number {
  return atLength || extent === 'whole' ? whole : part;
}

/** For a suite about one part of a subject. */
export function partOf<Subject, Part extends keyof Subject>(
  setup: Setup<Subject>,
  part: Part,
): Setup<Subject[Part]> {
  return async () => {
    const { subject, teardown, reopen } = await setup();
    return {
      subject: subject[part],
      teardown,
      ...(reopen && { reopen: async () => (await reopen())[part] }),
    };
  };
}

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
