import type { Coordination } from '../coordination.ts';
import type { EventLog } from '../event-log.ts';
import { atLength } from '@liminal/testkit/at-length';

/** A driver in one test, with the objects that the test uses. */
export interface SubjectUnderTest<Subject> {
  subject: Subject;
  teardown: () => Promise<void>;
  /** Closes the subject and opens it again with its data; absent for a driver without persistence. */
  reopen?: () => Promise<Subject>;
}

export type Setup<Subject> = () => Promise<SubjectUnderTest<Subject>>;

/**
 * How much of a suite runs before each commit: the whole suite; or, if a faster driver runs the whole suite, fewer runs
 * and smaller sizes.
 */
export type Extent = 'whole' | 'part';

/** Returns the value for the extent. In long runs, always returns the value for `whole`. */
export function amountOf(extent: Extent, { whole, part }: Record<Extent, number>): number {
  return atLength || extent === 'whole' ? whole : part;
}

/** The setup of a suite that tests one part of a subject. */
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

/** The storage of one server. */
export interface Server {
  log: EventLog;
  coordination: Coordination;
}

/** Two servers that share a log. */
export interface TwoServers {
  one: Server;
  two: Server;
}
