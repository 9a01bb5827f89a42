import {
  ForkOrigin,
  type Grant,
  ImportOrigin,
  type OutputItem,
  QueuedMessage,
  Response,
  Usage,
  UsageLimit,
} from '@liminal/protocol';
import { z } from 'zod';

/** ISO 8601 UTC. */
const Time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

/**
 * The last report of a session's agent, for people who view the session while no agent runs. `offers` is the hash of a
 * blob with the agent's settings and commands, which sessions share; `values` are the settings' values by id.
 */
export const LastKnown = z.object({
  offers: z.string().optional(),
  values: z.record(z.string(), z.string()).optional(),
  usage: Usage.optional(),
  limits: z.array(UsageLimit).optional(),
});
export type LastKnown = z.infer<typeof LastKnown>;

/** A session as it is stored. Every driver checks the records that it reads: see `store/stored-json.ts`. */
export const SessionRecord = z.object({
  sessionId: z.string(),
  cliType: z.string(),
  projectId: z.string(),
  projectDir: z.string(),
  /** The real paths of folders besides the project's in which the agent may work. */
  additionalDirectories: z.array(z.string()).optional(),
  title: z.string(),
  createdAt: Time,
  updatedAt: Time,
  /** Whether the session is open in the server: created or loaded, and not killed. */
  active: z.boolean(),
  /** Whether the last turn ended in an error. */
  failed: z.boolean(),
  /** Whether a person has archived the session: lists show it separately. */
  archived: z.boolean().optional(),
  /** Whether a person has pinned the session to the top of lists. */
  pinned: z.boolean().optional(),
  /** The agent's own id for the session, if it differs from Liminal's. */
  agentSessionId: z.string().optional(),
  /** The agent's earlier ids for the session, oldest first: after `/clear`, the agent continues under another id. */
  formerAgentSessionIds: z.array(z.string()).optional(),
  /** The value of `AgentDriver.storedMark` when history last contained everything from the agent's store. */
  storedMark: z.string().optional(),
  /** The chosen config options by id. */
  config: z.record(z.string(), z.string()),
  /** Messages that wait for their turn, the next one first. */
  queue: z.array(QueuedMessage),
  /** Whether the last turn was cut off by the end of a server. */
  interrupted: z.boolean().optional(),
  /** Whether the queue is paused because a person has stopped a turn. */
  queuePaused: z.boolean().optional(),
  /** Whether turns were taken back; `Response.rewoundTo` of the session's runs shows which turns. */
  rewound: z.boolean().optional(),
  /** The agent's background tasks that are running, or that ended with the agent and are not reported yet. */
  tasks: z.array(z.object({ taskId: z.string(), title: z.string() })).optional(),
  /** Whether a turn was cut off while it waited for a person's answer, and may be resumed. */
  awaits: z.boolean().optional(),
  /**
   * For a fork: the original session, the last turn that both sessions share, and the title of the original at the time
   * of the fork.
   */
  forkedFrom: ForkOrigin.optional(),
  /**
   * Set for a session from a file: the session's id in the file, and the time of the export. Such a session cannot be
   * continued by an agent.
   */
  importedFrom: ImportOrigin.optional(),
  /** If this report is damaged, the session is read without it. */
  lastKnown: LastKnown.optional().catch(undefined),
  /** Whether the agent's own history from before Liminal is in the store. */
  imported: z.boolean(),
  /** The token of the lease under which the record was written; 0 for a single server. */
  fence: z.number(),
});
export type SessionRecord = z.infer<typeof SessionRecord>;

/** A Response without its items. */
export const ResponseHead = Response.omit({ outputItems: true });
export type ResponseHead = z.infer<typeof ResponseHead>;

export interface StoredItem {
  runId: string;
  /** The index of the item in its Response, from 0. */
  index: number;
  item: OutputItem;
}

export interface ItemPage {
  /** The page's items, oldest first. */
  items: StoredItem[];
  /**
   * The heads, oldest first, of the runs of these items, and of the runs without items that come after the page's
   * oldest item. The oldest page also contains the heads of all earlier runs without items, so that all pages together
   * contain every run.
   */
  heads: ResponseHead[];
  /** Whether there are older items. */
  hasMore: boolean;
}

export interface ItemsWanted {
  before?: { runId: string; index: number };
  /** The most items. */
  limit: number;
  /**
   * The most bytes of JSON on a page; a page contains at least one item, whatever its size. If this limit ends a page,
   * older items remain.
   */
  size?: number;
}

/**
 * Selects the items of tool calls to read: the reader has the run's items on one side of `index`, and lacks the items
 * of the calls on the other side.
 */
export interface CallsWanted {
  runId: string;
  /** The keys from `callKeyOf`. */
  keys: readonly string[];
  /**
   * `before`: the items with a smaller index than `index`; `from`: the items with the index `index` or a greater one.
   */
  side: 'before' | 'from';
  index: number;
}

/** The most items of one key that `readCalls` returns, since an agent may give all of its calls the same id. */
export const callItemsMax = 8;

export interface SearchQuery {
  /** Any text, without a syntax. */
  text: string;
  projectId?: string | undefined;
  /** The most hits. */
  limit: number;
}

export interface SearchHit {
  sessionId: string;
  /** The matching item; absent if the session's title matches. */
  item?: {
    runId: string;
    index: number;
    itemId: string;
    type: OutputItem['type'];
    /** Set for an output or a permission request: the id of the call that it belongs to. */
    callId?: string;
  };
  /** A piece of the text around the hit, on a single line. */
  snippet: string;
}

/**
 * Stores sessions, their turns as folded Responses, and grants of projects. Every driver passes the suites of
 * `testing/`. Every write is all or nothing. A write throws StorageError `STORE_WRITE_FAILED` if the medium refuses it
 * (a full disk) or is unavailable; a remote store throws `STORE_READ_FAILED` while it cannot be read. Both can be
 * retried.
 */
export interface ResponseStore {
  /**
   * Saves a session. Throws `STORE_READ_FAILED` if the stored record is damaged, and does not change it. Throws
   * `STALE_OWNER` if the record's `fence` is smaller than the stored one's, because it is from a former owner, and
   * `SESSION_NOT_FOUND` if the session has been deleted.
   */
  saveSession(session: SessionRecord): Promise<void>;
  getSession(sessionId: string): Promise<SessionRecord | undefined>;
  /**
   * Returns the record to a new owner, with everything that the previous owner has saved. In the same step, raises the
   * record's `fence`, so that later saves of the previous owner are refused. Throws `STALE_OWNER` if the stored fence
   * is greater.
   */
  takeSession(sessionId: string, fence: number): Promise<SessionRecord | undefined>;
  /** Sessions, newest first by `updatedAt`, then by `createdAt`. */
  listSessions(filter?: { projectId?: string; active?: boolean }): Promise<SessionRecord[]>;
  /**
   * Deletes the session with all its Responses and holds on blobs, and blobs that no session needs any more. If the
   * session was stored, its own id and its agent's ids are remembered: later saves under these ids, by a former owner
   * or a slow projector, store nothing. If the session was not stored, no id is remembered. The call can be repeated.
   */
  deleteSession(sessionId: string): Promise<void>;
  /** Returns those of the given ids that belong to a deleted session, either as its own id or as an id of its agent. */
  findDeleted(ids: readonly string[]): Promise<string[]>;
  /**
   * Saves a Response, replacing an earlier snapshot of the same run. Runs of a session keep the order of their first
   * save. A snapshot that is older than the stored one (with a smaller `lastSeq`), or that belongs to a deleted
   * session, changes nothing. The session need not be stored. A Response with thousands of items may be visible in
   * part until the save ends; if the save fails, the part stays visible until the save is repeated.
   */
  saveResponse(response: Response): Promise<void>;
  /**
   * Saves many Responses, in order, in one step: the turns that a session had before Liminal. Each Response is saved as
   * by `saveResponse`.
   */
  importResponses(responses: readonly Response[]): Promise<void>;
  getResponse(runId: string): Promise<Response | undefined>;
  /**
   * Returns heads of a session's runs, oldest first, optionally only from `fromRunId` (inclusive) on; undefined if
   * `fromRunId` is not a run of the session.
   */
  listRuns(
    sessionId: string,
    options?: { fromRunId?: string },
  ): Promise<ResponseHead[] | undefined>;
  /**
   * Returns a page of a session's newest items, or of the newest items before a given position. Returns an empty page
   * if the position's run is unknown.
   */
  readItems(sessionId: string, options: ItemsWanted): Promise<ItemPage>;
  /**
   * The items with these call keys that are on one side of an index: for each key, at most the `callItemsMax` nearest
   * ones. Returns the items in order; returns none for an unknown run.
   */
  readCalls(wanted: CallsWanted): Promise<StoredItem[]>;
  /**
   * Searches the titles of sessions, and all messages, thoughts, and inputs and outputs of tools; with a project,
   * searches only the project's stored sessions. A text matches if it has every word of the query, regardless of case
   * and accents; the last word may also be the beginning of a word. Words that are joined without a space
   * (`src/index.ts`, `会议`) must be joined in the text. Titles come first, by the session's `updatedAt`; then items,
   * newest first by the first save of their run. An item is found once it has ended. Of very long texts only the
   * beginning is certain to be searched.
   */
  search(query: SearchQuery): Promise<SearchHit[]>;
  /**
   * A project's grants in the order of adding. Grants belong to the project: deleting a session does not delete them.
   */
  listGrants(projectId: string): Promise<Grant[]>;
  /** Adds a grant. Changes nothing if the project has a grant with the same rule. */
  addGrant(projectId: string, grant: Grant): Promise<void>;
  /** Removes a grant. Changes nothing if there is no such grant. */
  removeGrant(projectId: string, rule: string): Promise<void>;
  close(): Promise<void>;
}
