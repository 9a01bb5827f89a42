/**
 * The contracts by which several servers, with one log and one store, act as one server. Every driver passes
 * `testing/coordination-suite.ts`.
 */

/** The exclusive right to act on something (such as a session), for a limited time. */
export interface Lease {
  name: string;
  holder: string;
  /**
   * A number that increases each time the lease changes its holder. A smaller token therefore belongs to a former
   * holder.
   */
  token: number;
}

export interface Leases {
  /**
   * Acquires a lease for `ttlMs`; undefined while another holder has it. If the caller already has the lease, it gets
   * the lease again, with the same token.
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /**
   * Extends a lease by `ttlMs`, even if the lease has expired. Resolves with false if another holder has acquired the
   * lease since.
   */
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  /** Releases a lease at once. If another holder has acquired the lease, nothing changes. */
  release(lease: Lease): Promise<void>;
  /** The current leases by name; the result lacks names without a holder. */
  holders(names: readonly string[]): Promise<Map<string, Lease>>;
}

/**
 * Stores the latest text under each name, and shows it to all subscribers. A text expires unless it is posted again.
 */
export interface Board {
  /** Posts a text for `ttlMs`, and notifies subscribers. */
  post(name: string, text: string, ttlMs: number): Promise<void>;
  /** The current text of each name; the result lacks names without a text. */
  read(names: readonly string[]): Promise<Map<string, string>>;
  /**
   * Reports each posting whose name begins with `prefix`, from the moment when the returned promise resolves. Postings
   * of one name are reported in order. Postings during a lost connection are missed; `onGap` then reports the
   * reconnect, so that the listener can read again.
   */
  watch(prefix: string, listener: BoardListener): Promise<Unsubscribe>;
}

export interface BoardListener {
  onPost(name: string, text: string): void;
  onGap(): void;
}

export type Unsubscribe = () => Promise<void>;

/** Messages from one server to another, each delivered once and in order. */
export interface Inboxes {
  /**
   * Opens an inbox. From now on, `listener` gets the inbox's messages, including messages that are sent during a lost
   * connection.
   */
  open(name: string, listener: (message: string) => void): Promise<Unsubscribe>;
  /** Sends a message; resolves with false if the inbox is not open. */
  send(name: string, message: string): Promise<boolean>;
}

/** A run that one projector has claimed. */
export interface RunClaim {
  runId: string;
  sessionId: string;
  /** The other runs of the session that are not settled, in any order. */
  others(): Promise<string[]>;
  /**
   * Reports that the store has the run up to `seq`. From then on, the log needs to keep only the run's newest events.
   */
  projected(seq: number): Promise<void>;
  /** Reports that the run is settled; the run is not assigned again. */
  done(): Promise<void>;
}

/** Assigns the runs that must be projected; each run has one worker at a time. */
export interface RunRegistry {
  /**
   * Yields the runs that are given to one worker. Each run is given to one of the waiting workers as soon as the run is
   * in the log. If a worker aborts or dies before a run is done, the run is given to another worker. Ends when the
   * signal aborts.
   */
  claims(worker: string, signal: AbortSignal): AsyncIterable<RunClaim>;
}

/** A published message about a turn, in seed 003's envelope, for readers in any language. */
export interface UpsertMessage {
  /** A UUID. If the same message is published again, it has the same id. */
  eventId: string;
  /** The time, ms since the epoch. */
  timestamp: number;
  turnId: string;
  /** `item_discard` (not in the seed): a shown item is withdrawn. */
  payloadType: 'item_upsert' | 'item_discard' | 'turn_event';
  /** An upsert, a turn event, or the ids of a withdrawn item and its turn, as JSON. */
  payload: string;
}

/** The published messages: one stream for each turn. A stream is kept for an hour after its last message. */
export interface UpsertStreams {
  publish(message: UpsertMessage): Promise<void>;
}

/** Work for one of several workers. */
export interface Task {
  taskId: string;
  body: string;
}

/** The side that sends a message about a task. */
export type TaskSide = 'asker' | 'worker';

/**
 * The state of a task: a worker has taken the task; or the task waits for a worker; or no worker is present. A worker
 * that died counts as present for a few more seconds.
 */
export type TaskState = 'taken' | 'waits' | 'unattended';

/**
 * Assigns tasks to workers. If a worker dies after it has taken a task, the task is not assigned again, because its
 * progress is unknown.
 */
export interface TaskQueue {
  /**
   * Offers a task. One of the present workers takes the task, or else the next worker that comes. Resolves with the
   * task's id.
   */
  offer(body: string): Promise<string>;
  /** Yields the tasks that this worker takes, as soon as they are offered. Ends when the signal aborts. */
  take(worker: string, signal: AbortSignal): AsyncIterable<Task>;
  stateOf(taskId: string): Promise<TaskState>;
  /** Sends a message about a task. A task's messages are kept for a minute after its last message. */
  sendMessage(taskId: string, from: TaskSide, message: string): Promise<void>;
  /**
   * Yields all messages of one side about a task, in order, until the signal aborts. Only one follower may read a
   * side's messages.
   */
  follow(taskId: string, from: TaskSide, signal: AbortSignal): AsyncIterable<string>;
  /** Withdraws a task that no worker has taken. If a worker has taken the task, nothing changes. */
  withdraw(taskId: string): Promise<void>;
}

export interface Coordination {
  upserts: UpsertStreams;
  leases: Leases;
  board: Board;
  inboxes: Inboxes;
  registry: RunRegistry;
  tasks: TaskQueue;
}
