/**
 * The operations that the HTTP, WebSocket and ACP interfaces call. Every method rejects with a LiminalError: a code and
 * a message.
 */
import type {
  ImportResult,
  Methods,
  operations,
  Response,
  ServerMessage,
  SessionInfo,
  SessionSummary,
  StreamEvent,
  UploadedBlob,
} from '@liminal/protocol';
import type { AgentProcesses, ClientTerminal, TerminalRequest, TextPart } from '@liminal/agents';
import type { StoredBlob } from '@liminal/storage';
import type { TracedRun } from './tracing/index.ts';

/** A message to subscribers. The message's JSON is made at most once, however many subscribers get the message. */
export interface Outgoing {
  readonly message: ServerMessage;
  /** The run that the message belongs to, with its trace; undefined if the message belongs to no run. */
  readonly run: TracedRun | undefined;
  json(): string;
  /** `json()` in UTF-8. */
  bytes(): Buffer;
}

/** The transport of one subscriber. */
export interface Sink {
  /**
   * Sends a message. Returns false when the transport's buffer is full. Until `Subscription.drained()` is called, the
   * subscriber then gets no messages; afterwards it gets the newest state of everything that it missed (invariant 9).
   */
  send(outgoing: Outgoing): boolean;
  /**
   * Calls `load` once the transport has room; `load` loads the part of the session that the subscriber lacks. Subscribers
   * that share a transport load one after the other. Without this method, loads start at once.
   */
  whenRoom?(load: () => Promise<void>): void;
}

export interface Subscription {
  /** Reports that the transport's buffer has room again. */
  drained(): void;
  close(): void;
}

export interface SubscribeOptions {
  /**
   * The last cursor that the subscriber received; without a cursor, or with an unknown one, the subscriber gets a
   * snapshot.
   */
  cursor?: string | undefined;
  /**
   * If true, growing text is sent as `session:append` between full upserts. If false, only full upserts are sent, as
   * often as the batch gradient allows.
   */
  deltas?: boolean | undefined;
}

export interface SessionsChange {
  sessions: SessionSummary[];
  removed: string[];
}

/**
 * A run for one subscriber: its `events`, or the folded run as `snapshot` once the log has dropped the events
 * (invariant 7).
 */
export type RunFeed =
  | { kind: 'events'; events: AsyncIterable<StreamEvent> }
  | { kind: 'snapshot'; response: Response };

export interface FollowRunOptions {
  /** The sequence number after which events are sent; -1 for all events. */
  after: number;
  signal: AbortSignal;
  /** If true, waits for a run that has not begun. If false, rejects an unknown run with `RUN_NOT_FOUND`. */
  waits?: boolean;
}

/**
 * A client that shows a session on its user's machine. The session's agent can use the features that the client has:
 * reading files, writing files, and running programs.
 */
export interface AttachedClient {
  /** Returns whether the client's user sent the message of this turn. */
  startedTurn(turnId: string): boolean;
  /**
   * Reads a file's text; undefined if the client cannot read files. Rejects if the client does not have the text, or
   * when the signal aborts.
   */
  readText?: ((path: string, part: TextPart, signal: AbortSignal) => Promise<string>) | undefined;
  /**
   * Writes a file's text; undefined if the client cannot write files. Rejects with `CLIENT_REFUSED` if the client
   * reports that it wrote nothing. Also rejects when the signal aborts.
   */
  writeText?: ((path: string, text: string, signal: AbortSignal) => Promise<void>) | undefined;
  /**
   * Runs a program in a terminal of the client; undefined if the client has no terminals. Rejects if the client does
   * not run the program, or when the signal aborts.
   */
  runProgram?:
    | ((request: TerminalRequest, signal: AbortSignal) => Promise<ClientTerminal>)
    | undefined;
}

/** How far history is behind the log. */
export interface RuntimeMetrics {
  /** The number of running runs on all servers. */
  openRuns: number;
  /** The number of runs, on all servers, that have ended but are not in history yet. */
  backlogRuns: number;
  /** The number of events that history lacks; counts only the runs that this server projects. */
  lagEvents: number;
}

/** This server's current metrics; the cluster's metrics are the sums over all servers. */
export interface RuntimeGauges {
  /** Running turns. */
  turns: number;
  /** The number of queued messages of the sessions in this server's memory. */
  queuedMessages: number;
  approvalsWaiting: number;
  /** The number of subscribers; a subscriber of two sessions counts twice. */
  subscribers: number;
  /** The number of subscribers whose connection is slower than their session's messages. */
  slowSubscribers: number;
  /** Agent processes by agent type; undefined if the operating system has no process table. */
  agents: AgentProcesses[] | undefined;
}

/**
 * One method for each operation in the protocol's table, and further methods that only the HTTP, WebSocket and ACP
 * interfaces need.
 */
export interface Runtime extends Methods<typeof operations, 'read'> {
  metrics(): Promise<RuntimeMetrics>;
  gauges(): Promise<RuntimeGauges>;
  /**
   * Returns the reasons why this server should get no new turns now, each reason in one sentence; empty if the server
   * is ready. The check asks the database and Redis, takes at most a second, and runs at most once a second.
   */
  troubles(): Promise<string[]>;
  info(sessionId: string): Promise<SessionInfo>;
  /** Stores a file for a message. Throws `BLOB_TYPE_WRONG`, `BODY_TOO_LARGE`. */
  putBlob(bytes: Uint8Array, mimeType: string): Promise<UploadedBlob>;
  /** Throws `BLOB_NOT_FOUND`. */
  getBlob(hash: string): Promise<StoredBlob>;
  /**
   * Returns a session as a text file, in pieces. If a later read fails, the file ends without its last line. `liminal`
   * is the version of this server. Throws `SESSION_NOT_FOUND`.
   */
  exportSession(sessionId: string, versions: { liminal: string }): Promise<AsyncIterable<string>>;
  /** Imports a file made by `exportSession`: either the whole file or nothing. Throws `EXPORT_UNREADABLE`. */
  importSession(file: AsyncIterable<Uint8Array>): Promise<ImportResult>;
  /**
   * Returns a run's canonical events: the stored events, then the live events, up to the terminal event. Throws
   * `RUN_NOT_FOUND`.
   */
  followRun(runId: string, options: FollowRunOptions): Promise<RunFeed>;

  /**
   * Subscribes to a session: first `session:history` and `session:info`, then every change. Errors of the subscription
   * itself are sent as `session:error`.
   */
  subscribe(sessionId: string, options: SubscribeOptions, sink: Sink): Subscription;
  /**
   * Subscribes to the list of sessions: first Liminal's own sessions, then each session that changes. Unless `ownOnly`,
   * the sessions of each agent's own store follow as soon as the store is read.
   */
  subscribeToSessionList(
    onChange: (change: SessionsChange) => void,
    options?: { ownOnly?: boolean },
  ): () => void;

  /**
   * Attaches a client to a session: the session's agent may use the client's features until the returned function is
   * called. In a cluster, only the server that owns the session uses the client.
   */
  attach(sessionId: string, client: AttachedClient): () => void;

  /**
   * Stops new turns: rejects, with `SHUTTING_DOWN`, requests that would begin a turn, and leaves queued messages in the
   * queue. Resolves when no turn is running, or when `hurry` aborts. Subscribers still get their messages.
   */
  finish(hurry: AbortSignal): Promise<void>;
  /** Ends every agent process. Running turns end with the error `SERVER_ENDED`. */
  close(): Promise<void>;
}

/**
 * Calls the method of an operation with arguments that the operation's schemas have parsed. Rejects with the method's
 * error.
 */
export async function perform<Name extends keyof typeof operations>(
  methods: Record<Name, (...args: never[]) => Promise<unknown>>,
  name: Name,
  args: readonly unknown[],
): Promise<unknown> {
  const method = methods[name].bind(methods) as (...args: unknown[]) => Promise<unknown>;
  return method(...args);
}
