/** What surfaces may ask of the runtime. Everything rejects with a LiminalError: a code and a sentence. */
import type {
  AgentInfo,
  ApprovalAnswer,
  CreateSessionBody,
  FileResult,
  HistoryPage,
  Project,
  Response,
  SearchResult,
  SendResult,
  ServerMessage,
  SessionHandle,
  SessionInfo,
  SessionStatusResult,
  SessionSummary,
  StreamEvent,
} from '@liminal/protocol';
import type { SearchQuery } from '@liminal/storage';

export type { SearchQuery };

/** A message on its way to readers; encoded at most once, however many readers there are. */
export interface Outgoing {
  readonly message: ServerMessage;
  json(): string;
  /** The same in UTF-8. */
  bytes(): Buffer;
}

/** One reader's transport. */
export interface Sink {
  /**
   * Takes a message. False when the transport's buffer is full: the reader then gets nothing more until
   * `Subscription.drained()`, and after that what it lacks in its newest state (invariant 9).
   */
  send(outgoing: Outgoing): boolean;
}

export interface Subscription {
  /** The transport can take more. */
  drained(): void;
  close(): void;
}

export interface SubscribeOptions {
  /** The last cursor the reader has; without it, or if it means nothing here, the reader gets a snapshot. */
  cursor?: string | undefined;
  /** Text as `session:append` between full upserts, rather than full upserts by the batch gradient. */
  deltas?: boolean | undefined;
}

export interface SessionsChange {
  sessions: SessionSummary[];
  removed: string[];
}

/** A run for one reader: its `events`, or, once the log has let them go, the folded run as `snapshot` (invariant 7). */
export type RunFeed =
  | { kind: 'events'; events: AsyncIterable<StreamEvent> }
  | { kind: 'snapshot'; response: Response };

/** How far history is behind the log. */
export interface RuntimeMetrics {
  /** Runs under way, on all servers. */
  openRuns: number;
  /** Runs that have ended and are not in history yet, on all servers. */
  backlogRuns: number;
  /** Events that history lacks of the runs which this server brings there. */
  lagEvents: number;
}

export interface Runtime {
  metrics(): Promise<RuntimeMetrics>;
  listAgents(): Promise<AgentInfo[]>;
  /** All projects with all their sessions: ours, and those in the agents' own stores. */
  listProjects(): Promise<Project[]>;
  /** Folders below the allowed roots whose path begins with `prefix`; at most 50. */
  listFolders(prefix: string): Promise<{ path: string; name: string }[]>;

  createSession(request: CreateSessionBody): Promise<SessionHandle>;
  loadSession(sessionId: string): Promise<SessionHandle>;
  /** Starts the session's agent where that saves the next sender time; resolves before it runs. */
  prewarm(sessionId: string): Promise<void>;
  /**
   * The sessions in the own store of an agent that only it can read. It may be started for that, which nothing else in
   * these lists does: they have what was told last. Throws `NOT_SUPPORTED` for an agent that keeps none.
   */
  findSessions(cliType: string): Promise<SessionSummary[]>;

  /** Open sessions of a project, and those that only an agent's own store knows. */
  listSessions(projectId: string): Promise<SessionSummary[]>;
  status(sessionId: string): Promise<SessionStatusResult>;
  info(sessionId: string): Promise<SessionInfo>;
  rename(sessionId: string, title: string): Promise<void>;

  /**
   * Resolves when the message is bound to its turn, or queued behind another. With a `turnId` (a UUID that the sender
   * chose) it can be asked again, at any time: the message is sent once. Throws `TURN_ID_TAKEN` where that is a turn of
   * another session.
   */
  send(sessionId: string, message: string, turnId?: string): Promise<SendResult>;
  editQueued(sessionId: string, turnId: string, message: string): Promise<void>;
  removeQueued(sessionId: string, turnId: string): Promise<void>;
  /** Stops the running turn. With nothing to stop it does nothing. */
  cancel(sessionId: string): Promise<void>;
  /** Ends the agent's processes and closes the session; its history stays. */
  kill(sessionId: string): Promise<void>;
  answerApproval(sessionId: string, approvalId: string, answer: ApprovalAnswer): Promise<void>;
  setConfig(sessionId: string, id: string, value: string): Promise<void>;

  /** A page of the conversation, newest first page without `before`; at most 200 entries. */
  history(
    sessionId: string,
    options?: { before?: string | undefined; limit?: number | undefined },
  ): Promise<HistoryPage>;
  /**
   * A file to look at, by a path that is absolute or from the session's project folder. Throws `FILE_NOT_ALLOWED` for
   * one outside that folder and the allowed roots, `FILE_NOT_FOUND`, `FILE_UNREADABLE`.
   */
  readFile(sessionId: string, path: string): Promise<FileResult>;
  /** Looks in titles and in what was said and done; of a session that runs, in what has ended. */
  search(query: SearchQuery): Promise<SearchResult>;
  getRun(runId: string): Promise<Response>;
  /** Canonical events of a run after `after` (-1: all), then live ones; ends after the terminal event. */
  followRun(runId: string, options: { after: number; signal: AbortSignal }): Promise<RunFeed>;

  /**
   * Follows a session: `session:history` and `session:info` first, then whatever changes. Problems of the
   * subscription itself arrive as `session:error`.
   */
  subscribe(sessionId: string, options: SubscribeOptions, sink: Sink): Subscription;
  /**
   * Follows the list of sessions: ours once, then each that changes, and (unless `ownOnly`) those of each agent's own
   * store as soon as it is read.
   */
  watchSessions(
    listener: (change: SessionsChange) => void,
    options?: { ownOnly?: boolean },
  ): () => void;

  /** Ends every agent process; running turns end as cancelled. */
  close(): Promise<void>;
}
