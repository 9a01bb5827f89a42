import type { AgentDriver, HeldSession } from '@liminal/agents';
import type { Response, SessionInfo, SessionSummary } from '@liminal/protocol';
import type { BlobStore, EventLog, ResponseStore, SessionRecord } from '@liminal/storage';
import type { SessionSubscribers } from '../subscribers/index.ts';
import type { RunEndNotifier, Storage } from '../history/index.ts';
import type { Meter } from '../meter.ts';
import type { Roots } from '../roots.ts';
import type { AttachedClients } from './attached-clients.ts';
import type { AgentReport } from './last-known.ts';
import type { Logger, RuntimeSettings } from '../settings.ts';
import type { Tracing } from '../tracing/index.ts';
import type { DeltaPace } from '../turn/index.ts';

/** The part of a session that is posted to other servers. */
export interface SharedSession {
  readonly sessionId: string;
  /** The id of the running turn. */
  readonly turnId: string | undefined;
  info(): SessionInfo;
}

/**
 * The other servers of the cluster: these servers also serve a session's subscribers, and they bring the session's runs
 * into history.
 */
export interface Cluster extends RunEndNotifier {
  subscribersOf(session: SharedSession): SessionSubscribers;
  /** Resolves when history has the run, or when the signal aborts. */
  project(run: Response, signal: AbortSignal): Promise<void>;
  /**
   * The fencing token of the lease under which this server owns a session; undefined if this server does not own the
   * session.
   */
  fenceOf(sessionId: string): number | undefined;
  /**
   * Whether this server owns the session and keeps owning it for the lifetime of a lease. Rejects if Redis or the
   * store cannot answer now.
   */
  owns(sessionId: string): Promise<boolean>;
  /**
   * Whether this server owns the session. Asks Redis only if the last answer is too old. Rejects if Redis or the
   * store cannot answer now.
   */
  holds(sessionId: string): Promise<boolean>;
  /** Returns the summaries of those given sessions that other servers own. */
  summaries(sessionIds: readonly string[]): Promise<Map<string, SessionSummary>>;
}

export interface SessionOptions {
  record: SessionRecord;
  /** The agent's last report that was stored before this server opened the session. */
  lastKnown?: AgentReport | undefined;
  driver: AgentDriver;
  /** The session at its agent. */
  held: HeldSession;
  log: EventLog;
  store: ResponseStore;
  blobs: BlobStore;
  /** The archive for events of finished runs; undefined if events are not kept. */
  enabledArchive?: Storage['enabledArchive'];
  roots: Roots;
  clients: AttachedClients;
  settings: RuntimeSettings;
  /** Shared by all sessions of the server. */
  pace: DeltaPace;
  logger: Logger;
  meter?: Meter | undefined;
  /** The current time in ms since the epoch. */
  now: () => number;
  /** Whether the server is shutting down and begins no further turns. */
  serverEnds: () => boolean;
  /** Set only in a cluster. */
  cluster?: Cluster;
  /** Set only with tracing. */
  tracing?: Tracing;
}
