/**
 * What several servers on one log and one store need to act as one. Every driver passes
 * `testing/coordination-suite.ts`.
 */

/** The exclusive right to act for something, for a while. */
export interface Lease {
  name: string;
  holder: string;
  /** Grows with every change of the holder: a smaller token is from a former holder. */
  token: number;
}

export interface Leases {
  /** Takes a name for `ttlMs`; undefined while another holds it. Its holder gets it again, with the same token. */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Extends it by `ttlMs`, even after it ran out; false if somebody has taken it since. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  /** Releases it at once. A lease that is lost already is not touched. */
  release(lease: Lease): Promise<void>;
  /** The present holders of these names; names without a holder are missing. */
  holders(names: readonly string[]): Promise<Map<string, Lease>>;
}

/** The latest text under each name, for all to watch. Texts expire unless they are posted again. */
export interface Board {
  /** Posts a text for `ttlMs`, and notifies its watchers. */
  post(name: string, text: string, ttlMs: number): Promise<void>;
  /** The present text of each name; names without a text are missing. */
  read(names: readonly string[]): Promise<Map<string, string>>;
  /**
   * Reports each posting whose name begins with `prefix`, from when it resolves; those of one name in order. Postings
   * during a cut connection are missed: `onGap` reports that it is back, so that the listener can read again.
   */
  watch(prefix: string, listener: BoardListener): Promise<Unsubscribe>;
}

export interface BoardListener {
  onPost(name: string, text: string): void;
  onGap(): void;
}

export type Unsubscribe = () => Promise<void>;

/** Messages from one server to another, each once and in order. */
export interface Inboxes {
  /** Opens an inbox: its messages go to `listener` from now on, including those sent during a cut connection. */
  open(name: string, listener: (message: string) => void): Promise<Unsubscribe>;
  /** False if the inbox is not open. */
  send(name: string, message: string): Promise<boolean>;
}

/** A run that one projector has claimed. */
export interface RunClaim {
  runId: string;
  sessionId: string;
  /** The other runs of its session that are not settled, in any order. */
  others(): Promise<string[]>;
  /** The store has the run up to this `seq`: the log need keep only its newest events. */
  projected(seq: number): Promise<void>;
  /** The run is settled: it is not handed out again. */
  done(): Promise<void>;
}

/** Hands out the runs to be projected, each to one worker at a time. */
export interface RunRegistry {
  /**
   * Gives each run to one of the waiting workers as soon as it is in the log. A run that its worker has not done and
   * has let go of (by aborting, or by dying) goes to another. Ends when the signal aborts.
   */
  claims(worker: string, signal: AbortSignal): AsyncIterable<RunClaim>;
}

/** A message about a turn for readers in any language: seed 003's envelope. */
export interface UpsertMessage {
  /** A UUID; publishing the same message again gives the same id. */
  eventId: string;
  /** ms since the epoch. */
  timestamp: number;
  turnId: string;
  /** `item_discard` (not of the seed): a shown item is withdrawn. */
  payloadType: 'item_upsert' | 'item_discard' | 'turn_event';
  /** An upsert, a turn event, or the ids of a withdrawn item and its turn, as JSON. */
  payload: string;
}

/** A stream per turn of its published messages, kept for an hour after the last one. */
export interface UpsertStreams {
  publish(message: UpsertMessage): Promise<void>;
}

/** What is to be done by one of several workers. */
export interface Task {
  taskId: string;
  body: string;
}

/** Who says something of a task. */
export type TaskSide = 'asker' | 'worker';

/**
 * Whether a worker has taken a task, or it waits for one, or there is none that it could wait for. A worker that died
 * counts for a few seconds yet.
 */
export type TaskOutlook = 'taken' | 'waits' | 'unattended';

/**
 * Hands tasks to workers. A task that a worker has taken and not done, since it died, is not handed out again: nobody
 * knows how far it came.
 */
export interface TaskQueue {
  /** Gives a task to one of the workers that take tasks, or to the next that does; resolves with its id. */
  offer(body: string): Promise<string>;
  /** Gives each task to one of all workers, as soon as it is offered. Ends when the signal aborts. */
  take(worker: string, signal: AbortSignal): AsyncIterable<Task>;
  outlook(taskId: string): Promise<TaskOutlook>;
  /** Messages are kept for a minute after the last one. */
  say(taskId: string, from: TaskSide, message: string): Promise<void>;
  /** What one side says of a task, from the beginning and in order, until the signal aborts. A side has one follower. */
  follow(taskId: string, from: TaskSide, signal: AbortSignal): AsyncIterable<string>;
  /** Hands a task to nobody any more. One that a worker has taken already is not touched. */
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
