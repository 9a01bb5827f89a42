/** The runtime's settings; `defaultSettings` has the defaults. Times are in ms. */
export interface RuntimeSettings {
  /** The longest time for which deltas of one item are gathered into one event; 0 logs each delta at once. */
  cadenceMs: number;
  /** How often a silent run gets a heartbeat event, in ms; 0: never. */
  heartbeatMs: number;
  /** A turn whose agent is silent for this long ends with `IDLE_TIMEOUT`; 0: never. */
  idleLimitMs: number;
  /**
   * How many characters of a turn may wait while the log rejects them; with more, the turn ends with `LOG_UNAVAILABLE`.
   */
  maxUnlogged: number;
  approvals: ApprovalPolicy;
  /** How many sessions may be open at the same time. */
  maxSessions: number;
  /** How many messages may be queued in one session. */
  maxQueue: number;
  /** Whether the events of a run are kept after the run is in history, if the storage can keep them. */
  keepEvents: boolean;
  /** In a cluster: how long after a server's death its turns are ended and its sessions taken over. */
  leaseMs: number;
  /** In a cluster: whether this server also projects runs into history; otherwise another server must. */
  projects: boolean;
  /** Whether the server also publishes upserts, for subscribers in any language. */
  publishUpserts: boolean;
  /** How upserts are published; `defaultUpsertSettings` has the defaults. */
  upserts: Partial<UpsertSettings>;
  /** How many agent processes are kept for idle sessions; the process that was idle longest ends first. */
  maxIdleProcesses: number;
}

/** What happens to a permission request that nobody answers. */
export interface ApprovalPolicy {
  /** In ms; 0: no deadline. */
  deadlineMs: number;
  /**
   * The server's answer at the deadline; the answer applies to this request only. With `reject`: if the request has no
   * option to refuse, the server stops the turn. With `allow`: if the request has no allow-once option, or has a form,
   * the request keeps waiting for a user.
   */
  fallback: 'reject' | 'allow';
}

/** How upserts are published for subscribers in any language (seed 003, UpsertStreamProcessorOptions). */
export interface UpsertSettings {
  /** Tokens between two upserts of a growing text; the last entry repeats. */
  batchGradientTokens: readonly number[];
  /** Buffered text is published when the item has not grown for this long, in ms. */
  batchTimeoutMs: number;
  /** How tokens are counted: four characters each, or a word each. */
  tokenCounter: 'characters' | 'words';
  /** When a text's first upsert is published: when the first text arrives, or when the first batch is full. */
  firstEmission: 'immediate' | 'threshold';
  /** How often publishing a message is retried. */
  retryAttempts: number;
  /** Delay before the first retry, in ms; each further delay is twice as long. */
  retryBaseMs: number;
  /** The longest delay, in ms. */
  retryMaxMs: number;
}

export const defaultUpsertSettings: UpsertSettings = {
  batchGradientTokens: [10, 10, 20, 20, 50, 50, 50, 50, 100],
  batchTimeoutMs: 1_000,
  tokenCounter: 'characters',
  firstEmission: 'immediate',
  retryAttempts: 3,
  retryBaseMs: 1_000,
  retryMaxMs: 10_000,
};

export const defaultSettings: RuntimeSettings = {
  cadenceMs: 33,
  heartbeatMs: 15_000,
  idleLimitMs: 60 * 60_000,
  maxUnlogged: 16 * 1024 * 1024,
  approvals: { deadlineMs: 0, fallback: 'reject' },
  maxSessions: 200,
  maxQueue: 100,
  keepEvents: false,
  leaseMs: 15_000,
  projects: true,
  publishUpserts: false,
  upserts: {},
  maxIdleProcesses: 6,
};

/** The server's log. */
export interface Logger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
