/** What can be tuned; `defaultSettings` has the defaults. Times are ms. */
export interface RuntimeSettings {
  /** The longest that deltas of one item are gathered into one event; 0 logs each at once. */
  cadenceMs: number;
  /** A silent run gets a heartbeat this often; 0 never. */
  heartbeatMs: number;
  /** A turn in which its agent is silent for this long is ended with `IDLE_TIMEOUT`; 0 never. */
  idleLimitMs: number;
  /** Characters of a turn that may wait while the log refuses them; past that it ends with `LOG_UNAVAILABLE`. */
  maxUnlogged: number;
  approvals: ApprovalPolicy;
  /** How many sessions may be open at once. */
  maxSessions: number;
  /** How many messages may wait in one session. */
  maxQueue: number;
  /** Whether the events of a run stay when it is in history, where the storage can keep them. */
  keepEvents: boolean;
  /** With several servers: this long after a server's death its turns have ended, and other servers go on. */
  leaseMs: number;
  /** With several servers: whether this one also brings runs into history; if not, others must. */
  projects: boolean;
  /** Whether it also publishes upserts, for readers in any language. */
  publishUpserts: boolean;
  /** How; what is missing is as `defaultUpsertSettings` has it. */
  upserts: Partial<UpsertSettings>;
  /** How many agent processes are kept for idle sessions; the longest idle ends first. */
  maxIdleProcesses: number;
}

/** What happens to a permission request without an answer. */
export interface ApprovalPolicy {
  /** ms; 0 waits without a limit. */
  deadlineMs: number;
  /**
   * The answer that is then given, for this once. A request that offers no refusal is cancelled by stopping the turn; one
   * that cannot be allowed just once, or asks for a form, waits for a person.
   */
  fallback: 'reject' | 'allow';
}

/** How upserts are published for readers in any language (seed 003, UpsertStreamProcessorOptions). */
export interface UpsertSettings {
  /** Tokens from one publishing of a growing text to the next; the last entry repeats. */
  batchGradientTokens: readonly number[];
  /** Buffered text is published when nothing has been added for this long, ms. */
  batchTimeoutMs: number;
  /** What a token is: four characters, or a word. */
  tokenCounter: 'characters' | 'words';
  /** Whether a text's first content is published at once, or when the first batch is full. */
  firstEmission: 'immediate' | 'threshold';
  /** How often a message that could not be published is tried again. */
  retryAttempts: number;
  /** How long to wait before the first of these, ms; each further wait is twice as long. */
  retryBaseMs: number;
  /** The longest wait, ms. */
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
