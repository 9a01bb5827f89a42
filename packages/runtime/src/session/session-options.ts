import type { CliProvider } from '@liminal/agents';
import type { Response, SessionSummary } from '@liminal/protocol';
import type { EventLog, ResponseStore, SessionRecord } from '@liminal/storage';
import type { SessionReaders } from '../readers/index.ts';
import type { Storage } from '../history/index.ts';
import type { Roots } from '../roots.ts';
import type { Session } from './session.ts';
import type { Logger, RuntimeSettings } from '../settings.ts';

export interface SessionOptions {
  record: SessionRecord;
  provider: CliProvider;
  log: EventLog;
  store: ResponseStore;
  roots: Roots;
  settings: RuntimeSettings;
  logger: Logger;
  /** ms since the epoch. */
  now: () => number;
  /** Its summary has changed. */
  onChange: (session: Session) => void;
  /** Where others than this server show it and bring it into history. */
  cluster?: {
    readers: (session: Session) => SessionReaders;
    project: (run: Response, signal: AbortSignal) => Promise<void>;
    onEndInHistory: NonNullable<Storage['onEndInHistory']>;
    /** The token of the lease under which this server owns a session; undefined if it does not. */
    fenceOf: (sessionId: string) => number | undefined;
    /** Whether this server owns a session still, and then for a while. Rejects where that cannot be told now. */
    owns: (sessionId: string) => Promise<boolean>;
    /** Where those of these sessions stand that other servers are at. */
    summaries: (sessionIds: readonly string[]) => Promise<Map<string, SessionSummary>>;
  };
}
