import type { OutputItem, QueuedMessage, Response } from '@liminal/protocol';

/** A session as it is stored. Times are ISO 8601 UTC. */
export interface SessionRecord {
  sessionId: string;
  cliType: string;
  projectId: string;
  projectDir: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  /** Open in the server: created or loaded, and not killed. */
  active: boolean;
  /** Its last turn ended in an error that nobody has followed up. */
  failed: boolean;
  /** The agent's own id for it, once that differs from ours. */
  agentSessionId?: string;
  /** Chosen config options, by id. */
  config: Record<string, string>;
  /** Messages that wait for their turn, first one next. */
  queue: QueuedMessage[];
  /** Whether the agent's own history from before Liminal is in the store. */
  imported: boolean;
}

/** A Response without its items. */
export type ResponseHead = Omit<Response, 'outputItems'>;

export interface StoredItem {
  runId: string;
  /** Place in its Response, from 0. */
  index: number;
  item: OutputItem;
}

export interface ItemPage {
  /** Oldest first. */
  items: StoredItem[];
  /** Heads of the runs that the items belong to, and of itemless runs between them, oldest first. */
  heads: ResponseHead[];
  hasMore: boolean;
}

/** Sessions, and their turns as folded Responses. Every driver passes `testing/response-store-suite.ts`. */
export interface ResponseStore {
  saveSession(session: SessionRecord): Promise<void>;
  getSession(sessionId: string): Promise<SessionRecord | undefined>;
  /** Newest first by `updatedAt`. */
  listSessions(filter?: { projectId?: string; active?: boolean }): Promise<SessionRecord[]>;
  /** The session with all its Responses. */
  deleteSession(sessionId: string): Promise<void>;
  /**
   * Saves a Response, replacing an earlier snapshot of the same run. Runs of a session keep the order of their first save.
   * A snapshot older than what is stored (by `lastSeq`) changes nothing.
   */
  saveResponse(response: Response): Promise<void>;
  /** Saves a session's earlier turns in one step (an import); all or nothing. */
  importResponses(responses: readonly Response[]): Promise<void>;
  getResponse(runId: string): Promise<Response | undefined>;
  /** Heads of a session's runs, oldest first; from `fromRunId` (inclusive) if given. Unknown `fromRunId` gives undefined. */
  listRuns(sessionId: string, options?: { fromRunId?: string }): Promise<ResponseHead[] | undefined>;
  /** A page of a session's items, the newest `limit` before the given place. */
  readItems(
    sessionId: string,
    options: { before?: { runId: string; index: number }; limit: number },
  ): Promise<ItemPage>;
  close(): Promise<void>;
}
