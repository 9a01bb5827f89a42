/** What several servers on one log and one store need to act as one. Every driver passes `testing/coordination-suite.ts`. */

/** The right to be the only one that acts for something, for a while. */
export interface Lease {
  name: string;
  holder: string;
  /** Grows with every change of the holder: whatever carries a smaller one comes from a holder of the past. */
  token: number;
}

export interface Leases {
  /** Takes a name for `ttlMs`; undefined while another holds it. Its holder gets it again, with the same token. */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Holds it for another `ttlMs`, also after it ran out, unless somebody has taken it since: then false. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  /** Lets it go at once. One that is lost already is left to whom it belongs. */
  release(lease: Lease): Promise<void>;
  /** Who holds each of these names now; a name that nobody holds is missing. */
  holders(names: readonly string[]): Promise<Map<string, Lease>>;
}

/** The latest text under each name, which everybody can watch. Texts are forgotten when they are not posted again. */
export interface Board {
  /** Puts up a text for `ttlMs`, and shows it to whoever watches. */
  post(name: string, text: string, ttlMs: number): Promise<void>;
  /** What stands under each of these names now; a name without a text is missing. */
  read(names: readonly string[]): Promise<Map<string, string>>;
  /**
   * Tells of each posting whose name begins with `prefix`, from when it resolves; those under one name in order. What
   * is posted while the connection is cut is not told: `onGap` says that it is back, so that what matters can be read
   * again.
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
  /** Opens the inbox of that name, whose messages go to `listener` from now on, also those sent during a cut connection. */
  open(name: string, listener: (message: string) => void): Promise<Unsubscribe>;
  /** False if nobody has that inbox open any more. */
  send(name: string, message: string): Promise<boolean>;
}

/** A run that one projector has taken upon itself. */
export interface RunClaim {
  runId: string;
  sessionId: string;
  /** The store has all of the run up to this `seq`: the log need not keep more than its newest events. */
  projected(seq: number): Promise<void>;
  /** The run is settled: nobody gets it again. */
  done(): Promise<void>;
}

/** Which runs are to be projected, each by one worker at a time. */
export interface RunRegistry {
  /**
   * Gives each run to one of the workers that ask, as soon as it is in the log; a run that its worker has not done and
   * has let go of (by aborting, or by dying) goes to another. Ends when the signal aborts.
   */
  claims(worker: string, signal: AbortSignal): AsyncIterable<RunClaim>;
}

/** What readers in any language are told of a turn: seed 003's envelope. */
export interface UpsertMessage {
  /** A UUID; the same where the same is published again. */
  eventId: string;
  /** ms since the epoch. */
  timestamp: number;
  turnId: string;
  payloadType: 'item_upsert' | 'turn_event';
  /** An upsert or a turn event as JSON. */
  payload: string;
}

/** A stream per turn of what is published of it, kept for an hour after the last message. */
export interface UpsertStreams {
  publish(message: UpsertMessage): Promise<void>;
}

export interface Coordination {
  upserts: UpsertStreams;
  leases: Leases;
  board: Board;
  inboxes: Inboxes;
  registry: RunRegistry;
}
