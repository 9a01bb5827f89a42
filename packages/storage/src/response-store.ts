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
 * What a session's agent last reported, for people who look at the session while no agent runs. `offers` is the hash of a
 * blob with its settings and commands, which sessions share; `values` are the settings' values, by id.
 */
export const LastKnown = z.object({
  offers: z.string().optional(),
  values: z.record(z.string(), z.string()).optional(),
  usage: Usage.optional(),
  limits: z.array(UsageLimit).optional(),
});
export type LastKnown = z.infer<typeof LastKnown>;

/** A session as it is stored. Every driver checks what it reads: see `store/stored-json.ts`. */
export const SessionRecord = z.object({
  sessionId: z.string(),
  cliType: z.string(),
  projectId: z.string(),
  projectDir: z.string(),
  /** The real paths of folders beside the project's in which its agent may work. */
  additionalDirectories: z.array(z.string()).optional(),
  title: z.string(),
  createdAt: Time,
  updatedAt: Time,
  /** Open in the server: created or loaded, and not killed. */
  active: z.boolean(),
  /** Its last turn ended in an error, and no turn has followed. */
  failed: z.boolean(),
  /** Put away by a person: lists show it apart. */
  archived: z.boolean().optional(),
  /** Kept at the top of lists by a person. */
  pinned: z.boolean().optional(),
  /** The agent's own id for it, if it differs from ours. */
  agentSessionId: z.string().optional(),
  /** The agent's `CliProvider.storedMark` when history had all of its store. */
  storedMark: z.string().optional(),
  /** Chosen config options, by id. */
  config: z.record(z.string(), z.string()),
  /** Messages that wait for their turn, first one next. */
  queue: z.array(QueuedMessage),
  /** Its last turn was cut off by the end of a server, and no turn has followed. */
  interrupted: z.boolean().optional(),
  /** A person has stopped a turn: no message of the queue is sent until it is resumed. */
  queuePaused: z.boolean().optional(),
  /** Turns were taken back: `Response.rewoundTo` of its runs says which. */
  rewound: z.boolean().optional(),
  /** What runs beside the turns of its agent, or has ended with it and is still to be told. */
  tasks: z.array(z.object({ taskId: z.string(), title: z.string() })).optional(),
  /** A turn was cut off while it waited for a person's answer; it may go on. */
  awaits: z.boolean().optional(),
  /** The session that it was forked from, with the last turn that they share and the title then. */
  forkedFrom: ForkOrigin.optional(),
  /** Read from a file of this session (its id there), exported then: no agent can go on with it. */
  importedFrom: ImportOrigin.optional(),
  /** Left out if it is damaged: the session is read without it. */
  lastKnown: LastKnown.optional().catch(undefined),
  /** Whether the agent's own history from before Liminal is in the store. */
  imported: z.boolean(),
  /** The token of the lease under which it was written; 0 for a single server. */
  fence: z.number(),
});
export type SessionRecord = z.infer<typeof SessionRecord>;

/** A Response without its items. */
export const ResponseHead = Response.omit({ outputItems: true });
export type ResponseHead = z.infer<typeof ResponseHead>;

export interface StoredItem {
  runId: string;
  /** Place in its Response, from 0. */
  index: number;
  item: OutputItem;
}

export interface ItemPage {
  /** Oldest first. */
  items: StoredItem[];
  /**
   * Heads of the items' runs, oldest first, and of runs without items after the page's oldest item (or anywhere before
   * it, if nothing older has items): so that all pages together show every run.
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
   * The most bytes of JSON, but at least one item. A page that is full for this reason has more before it.
   */
  size?: number;
}

/** Which items of calls a reader lacks: it has the run's items around `index` on the other side. */
export interface CallsWanted {
  runId: string;
  /** As `callKeyOf` gives them. */
  keys: readonly string[];
  /** Items with a smaller index (`before`), or with this one or a greater one (`from`). */
  side: 'before' | 'from';
  index: number;
}

/** The most items of one key that `readCalls` returns. An agent may give all of its calls the same id. */
export const CALL_ITEMS_MAX = 8;

export interface SearchQuery {
  /** Any text: there is no syntax. */
  text: string;
  projectId?: string | undefined;
  /** The most hits. */
  limit: number;
}

export interface SearchHit {
  sessionId: string;
  /** The item that was found; absent if it is the session's title. */
  item?: {
    runId: string;
    index: number;
    itemId: string;
    type: OutputItem['type'];
    /** For an output or a permission: its call. */
    callId?: string;
  };
  /** A piece of the text around the hit, on one line. */
  snippet: string;
}

/**
 * Sessions, their turns as folded Responses, and what projects permit. Every driver passes the suites of `testing/`.
 * Every write is all or nothing and throws StorageError `STORE_WRITE_FAILED` if the medium refuses it (a full disk) or
 * is away; a remote store throws `STORE_READ_FAILED` while it cannot be read. Both can be retried.
 */
export interface ResponseStore {
  /**
   * Throws `STORE_READ_FAILED` if the stored record is damaged: it is left as it is. Throws `STALE_OWNER` for a record whose `fence` is smaller than the stored one's: it is from a former owner; and
   * `SESSION_NOT_FOUND` if the session has been deleted.
   */
  saveSession(session: SessionRecord): Promise<void>;
  getSession(sessionId: string): Promise<SessionRecord | undefined>;
  /**
   * Gives a new owner the record with all that the last one has saved, and in the same step raises its `fence`, so that
   * later saves of the last owner are refused. Throws `STALE_OWNER` if there is a greater fence already.
   */
  takeSession(sessionId: string, fence: number): Promise<SessionRecord | undefined>;
  /** Newest first by `updatedAt`, then by `createdAt`. */
  listSessions(filter?: { projectId?: string; active?: boolean }): Promise<SessionRecord[]>;
  /**
   * The session with all its Responses and its hold on blobs, and the blobs that nobody else needs. Of a session that
   * is stored the ids remain, its own and its agent's: whatever is saved for them later (by a former owner, or a slow
   * projector) is not. A session that is not stored leaves nothing behind. It can be repeated.
   */
  deleteSession(sessionId: string): Promise<void>;
  /** Those of these ids that are a deleted session's, or its agent's for it. */
  findDeleted(ids: readonly string[]): Promise<string[]>;
  /**
   * Saves a Response, replacing an earlier snapshot of the same run. Runs of a session keep the order of their first
   * save. A snapshot older than the stored one (by a smaller `lastSeq`) changes nothing, nor does one of a deleted
   * session. Its session need not be stored. A Response with thousands of items may be visible in part until it is saved; after a failure, until it is
   * saved again.
   */
  saveResponse(response: Response): Promise<void>;
  /** Saves many Responses, in order, in one step: a session's turns from before Liminal. As `saveResponse` for each. */
  importResponses(responses: readonly Response[]): Promise<void>;
  getResponse(runId: string): Promise<Response | undefined>;
  /**
   * Heads of a session's runs, oldest first; from `fromRunId` (inclusive) if given: undefined if it is not one of them.
   */
  listRuns(
    sessionId: string,
    options?: { fromRunId?: string },
  ): Promise<ResponseHead[] | undefined>;
  /** A page of a session's items, the newest before the given place, or of all; none for a place in an unknown run. */
  readItems(sessionId: string, options: ItemsWanted): Promise<ItemPage>;
  /**
   * Items that have one of these call keys, on one side of an index: of each key the nearest `CALL_ITEMS_MAX`. In order;
   * none for an unknown run.
   */
  readCalls(wanted: CallsWanted): Promise<StoredItem[]>;
  /**
   * Searches the titles of sessions, and all that was said, thought, given to tools and returned by them; with a
   * project only its stored sessions. A text matches if it has every word of the query, whatever their case and
   * accents, the last one also as the beginning of a word; words that stand together without a space (`src/index.ts`,
   * `会议`) must do so in the text. Titles come first, by the session's `updatedAt`; then items, newest first by the
   * first save of their run. An item is found once it has ended. Of very long texts only the beginning is sure to be
   * searched.
   */
  search(query: SearchQuery): Promise<SearchHit[]>;
  /** A project's grants, the first added first. They are the project's: deleting a session leaves them. */
  listGrants(projectId: string): Promise<Grant[]>;
  /** Changes nothing if the project has a grant of the same rule. */
  addGrant(projectId: string, grant: Grant): Promise<void>;
  /** Changes nothing if there is no such grant. */
  removeGrant(projectId: string, rule: string): Promise<void>;
  close(): Promise<void>;
}
