import type { ApprovalPolicy } from './session/index.ts';

/** What can be tuned; `defaultSettings` says the defaults. Times are ms. */
export interface RuntimeSettings {
  /** Deltas of one item within so long become one event. */
  cadenceMs: number;
  /** A silent run says that it is alive this often; 0 never. */
  heartbeatMs: number;
  /** An agent that has been silent in a turn for so long is ended with `IDLE_TIMEOUT`; 0 never. */
  idleLimitMs: number;
  /** Characters of a turn that may wait while the log refuses them; with more, the turn ends with `LOG_UNAVAILABLE`. */
  maxUnlogged: number;
  approvals: ApprovalPolicy;
  /** Sessions open at once. */
  maxSessions: number;
  /** Messages waiting in one session. */
  maxQueue: number;
  /** Where several servers share the sessions: so long after a server's death its turns are over, and others go on. */
  leaseMs: number;
  /** Whether this server also brings runs into history, where several share the work; others must, if not. */
  projects: boolean;
  /** Whether it publishes their upserts too, for readers in any language. */
  publishUpserts: boolean;
  /** Agent processes kept for sessions in which nothing runs; the longest idle goes first. */
  maxIdleProcesses: number;
}

export const defaultSettings: RuntimeSettings = {
  cadenceMs: 33,
  heartbeatMs: 15_000,
  idleLimitMs: 60 * 60_000,
  maxUnlogged: 16 * 1024 * 1024,
  approvals: { deadlineMs: 0, fallback: 'reject' },
  maxSessions: 200,
  maxQueue: 100,
  leaseMs: 15_000,
  projects: true,
  publishUpserts: false,
  maxIdleProcesses: 6,
};

/** Where the runtime says what no reader can be told. */
export interface Logger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
