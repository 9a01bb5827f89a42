/** What surfaces may ask of the runtime. Everything rejects with a LiminalError: a code and a sentence. */
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

/** A message on its way to readers; encoded at most once, however many readers there are. */
export interface Outgoing {
  readonly message: ServerMessage;
  /** The run of which it tells, with the trace that its events carry; absent where it tells of none. */
  readonly run: TracedRun | undefined;
  json(): string;
  /** The same in UTF-8. */
  bytes(): Buffer;
}

/** One reader's transport. */
export interface Sink {
  /**
   * Takes a message. False when the transport's buffer is full: the reader then gets nothing more until
   * `Subscription.drained()`, and then what it missed, in its newest state (invariant 9).
   */
  send(outgoing: Outgoing): boolean;
  /**
   * Starts the load of what a reader lacks once the transport has room; several readers of one transport load one after
   * the other. Without it, loads start at once.
   */
  whenRoom?(load: () => Promise<void>): void;
}

export interface Subscription {
  /** The transport can take more. */
  drained(): void;
  close(): void;
}

export interface SubscribeOptions {
  /** The last cursor the reader has; without one, or with an unknown one, the reader gets a snapshot. */
  cursor?: string | undefined;
  /** Text as `session:append` between full upserts, rather than full upserts by the batch gradient. */
  deltas?: boolean | undefined;
}

export interface SessionsChange {
  sessions: SessionSummary[];
  removed: string[];
}

/** A run for one reader: its `events`, or the folded run as `snapshot` once the log has dropped them (invariant 7). */
export type RunFeed =
  | { kind: 'events'; events: AsyncIterable<StreamEvent> }
  | { kind: 'snapshot'; response: Response };

export interface FollowRunOptions {
  /** -1: all. */
  after: number;
  signal: AbortSignal;
  /** Whether a run that has not begun is waited for; else there is none of this id. */
  waits?: boolean;
}

/** A client that shows a session where its person works, and what it does for the session's agent there. */
export interface AttachedClient {
  /** Whether its person has sent the message of this turn. */
  asked(turnId: string): boolean;
  /** Absent if it cannot. Rejects if it has no such text, and when the signal aborts. */
  readText?: ((path: string, part: TextPart, signal: AbortSignal) => Promise<string>) | undefined;
  /** Absent if it cannot. Rejects with `CLIENT_REFUSED` if it has said that it wrote nothing, and when the signal aborts. */
  writeText?: ((path: string, text: string, signal: AbortSignal) => Promise<void>) | undefined;
  /** Absent if it cannot. Rejects if it does not run the program, and when the signal aborts. */
  runProgram?:
    | ((request: TerminalRequest, signal: AbortSignal) => Promise<ClientTerminal>)
    | undefined;
}

/** How far history is behind the log. */
export interface RuntimeMetrics {
  /** Runs under way, on all servers. */
  openRuns: number;
  /** Runs that have ended and are not in history yet, on all servers. */
  backlogRuns: number;
  /** Events of the runs projected by this server that history lacks. */
  lagEvents: number;
}

/** What there is on this server at this moment; of several servers, their sums are what there is on all. */
export interface RuntimeGauges {
  /** Turns under way. */
  turns: number;
  /** Messages that wait for their turn, in sessions that are in this server's memory. */
  queuedMessages: number;
  approvalsWaiting: number;
  /** Those who follow a session, once for each session. */
  readers: number;
  /** Those of them whose connection takes less than there is. */
  slowReaders: number;
  /** The processes of agents by agent type; undefined where the system has no table of processes. */
  agents: AgentProcesses[] | undefined;
}

/** A method for each operation of the protocol's table, and what else surfaces need. */
export interface Runtime extends Methods<typeof operations, 'read'> {
  metrics(): Promise<RuntimeMetrics>;
  gauges(): Promise<RuntimeGauges>;
  /**
   * Why no new turn should be brought here just now: a sentence for each reason, none if the server is ready. It asks the
   * database and Redis, within a second, and once a second however often it is called.
   */
  troubles(): Promise<string[]>;
  info(sessionId: string): Promise<SessionInfo>;
  /** Keeps a file for a message. `BLOB_TYPE_WRONG`, `BODY_TOO_LARGE`. */
  putBlob(bytes: Uint8Array, mimeType: string): Promise<UploadedBlob>;
  /** `BLOB_NOT_FOUND`. */
  getBlob(hash: string): Promise<StoredBlob>;
  /**
   * A session as a file of text, in pieces; without its last line if reading it fails on the way. `liminal` is the version
   * that writes it. `SESSION_NOT_FOUND`.
   */
  exportSession(sessionId: string, versions: { liminal: string }): Promise<AsyncIterable<string>>;
  /** Reads such a file: all of it or nothing. `EXPORT_UNREADABLE`. */
  importSession(file: AsyncIterable<Uint8Array>): Promise<ImportResult>;
  /** Canonical events of a run, then live ones; ends after the terminal event. `RUN_NOT_FOUND`. */
  followRun(runId: string, options: FollowRunOptions): Promise<RunFeed>;

  /**
   * Follows a session: `session:history` and `session:info` first, then every change. Problems of the
   * subscription itself arrive as `session:error`.
   */
  subscribe(sessionId: string, options: SubscribeOptions, sink: Sink): Subscription;
  /**
   * Follows the list of sessions: ours once, then each that changes, and (unless `ownOnly`) those in each agent's own
   * store as soon as it has been read.
   */
  watchSessions(
    listener: (change: SessionsChange) => void,
    options?: { ownOnly?: boolean },
  ): () => void;

  /**
   * Attaches a client to a session: what it offers is there for the session's agent until it leaves, by calling what this
   * returns. Of several servers, only the one that owns the session uses it.
   */
  attach(sessionId: string, client: AttachedClient): () => void;

  /**
   * Lets no new turn begin from now on: what would begin one is refused with `SHUTTING_DOWN`, and what waits in a queue
   * stays there. Resolves when no turn is under way, or when `hurry` aborts. Readers are served as before.
   */
  finish(hurry: AbortSignal): Promise<void>;
  /** Ends every agent process; running turns end with the error `SERVER_ENDED`. */
  close(): Promise<void>;
}

/** Calls an operation's method with arguments that its schemas have parsed. Rejects as the method does. */
export async function perform<Name extends keyof typeof operations>(
  runtime: Pick<Runtime, Name>,
  name: Name,
  args: readonly unknown[],
): Promise<unknown> {
  const method = runtime[name].bind(runtime) as (...args: unknown[]) => Promise<unknown>;
  return method(...args);
}
