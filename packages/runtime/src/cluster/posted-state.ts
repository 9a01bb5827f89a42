/** The state that a session's owner posts to the other servers. */
import { type Response, SessionInfo } from '@liminal/protocol';
import type { Board } from '@liminal/storage';
import { z } from 'zod';
import { postSettled } from './projector.ts';
import type { SessionSubscribers } from '../subscribers/index.ts';
import type { SharedSession } from '../session/index.ts';
import { retry } from '../retry.ts';

/** A session's state. */
export const PostedState = z.object({
  info: SessionInfo,
  /** The run that is running, or that is not in history yet. */
  runId: z.string().optional(),
  /**
   * The fencing token of the lease under which the state was posted; a smaller token is from a former owner.
   * Undefined if the state was stored, not posted.
   */
  fence: z.number().optional(),
});
export type PostedState = z.infer<typeof PostedState>;

/** An error that belongs to no turn. */
export const Report = z.object({ code: z.string(), message: z.string() });

export const postedStatePrefix = 'session:';
export const reportPrefix = 'report:';
export const deletedPrefix = 'deleted:';

/** The minimum time between two postings of a session, in ms; the first change after a pause is posted at once. */
const postEveryMs = 33;
/** Delay before a posting is retried while the board is unreachable, in ms. */
const retryMs = 500;
/**
 * How long a posting lasts, in ms: far longer than a lease. Readers of a posting check the lease to know whether the
 * posting is still valid.
 */
const postingTtlMs = 24 * 60 * 60_000;
const reportTtlMs = 1_000;
const deletedTtlMs = 60_000;

/** Returns undefined for the empty posting of a deleted session. Throws if the posting is damaged. */
export function parsePostedState(text: string): PostedState | undefined {
  return text === '' ? undefined : PostedState.parse(JSON.parse(text));
}

/**
 * Parses a posting like `parsePostedState`, but returns undefined for a damaged posting, because the owner soon posts
 * another.
 */
export function readPostedState(text: string | undefined): PostedState | undefined {
  try {
    return text === undefined ? undefined : parsePostedState(text);
  } catch {
    return undefined;
  }
}

export async function postSession(board: Board, postedState: PostedState): Promise<void> {
  const name = postedStatePrefix + postedState.info.session.sessionId;
  await board.post(name, JSON.stringify(postedState), postingTtlMs);
}

/**
 * Notifies every server that a session was deleted, and removes the session's posted state, because the state contains
 * title and queue.
 */
async function postDeleted(board: Board, sessionId: string): Promise<void> {
  await board.post(postedStatePrefix + sessionId, '', deletedTtlMs);
  await board.post(deletedPrefix + sessionId, '', deletedTtlMs);
}

/** Posts a session's state to the other servers. The other servers read the session's conversation from the log. */
export class RemoteSubscribers implements SessionSubscribers {
  readonly #board: Board;
  readonly #session: SharedSession;
  readonly #fence: () => number | undefined;
  readonly #onTrouble: (error: unknown) => void;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #runId: string | undefined;
  #isDeleted = false;
  /** The time of the last posting, on the clock of `performance.now()`. */
  #postedAt = Number.NEGATIVE_INFINITY;

  /** @param fence - The fencing token of the lease under which this server owns the session. */
  constructor(
    board: Board,
    session: SharedSession,
    fence: () => number | undefined,
    onTrouble: (error: unknown) => void,
  ) {
    this.#board = board;
    this.#session = session;
    this.#fence = fence;
    this.#onTrouble = onTrouble;
  }

  apply(): void {}

  forget(): void {}

  historyGrew(runs: readonly Response[]): void {
    for (const { id: runId, sessionId } of runs) {
      void retry(async () => postSettled(this.#board, { runId, sessionId }), {
        signal: this.#closing.signal,
        everyMs: retryMs,
        onTrouble: this.#onTrouble,
      });
    }
  }

  infoChanged(): void {
    // A new run is posted at once, so that other servers start to read it from the log.
    if (this.#session.turnId !== this.#runId) return this.#post();
    if (this.#timer !== undefined) return;
    const wait = this.#postedAt + postEveryMs - performance.now();
    this.#timer = setTimeout(() => this.#post(), Math.max(0, wait));
  }

  report(code: string, message: string): void {
    const text = JSON.stringify({ code, message });
    const name = reportPrefix + this.#session.sessionId;
    this.#board.post(name, text, reportTtlMs).catch(this.#onTrouble);
  }

  deleted(): void {
    this.#isDeleted = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    postDeleted(this.#board, this.#session.sessionId).catch(this.#onTrouble);
  }

  /** Posts the last state if a posting is still due. */
  close(): void {
    this.#closing.abort();
    if (this.#timer !== undefined) this.#post();
  }

  #post(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#postedAt = performance.now();
    const { turnId: runId } = this.#session;
    this.#runId = runId;
    const fence = this.#fence();
    if (this.#isDeleted || fence === undefined) return;
    const info = this.#session.info();
    const postedState = { info, fence, ...(runId !== undefined && { runId }) };
    postSession(this.#board, postedState).catch((error) => this.#failed(error));
  }

  /** Retries a failed posting; otherwise other servers would not know of a new run before the session's next change. */
  #failed(error: unknown): void {
    this.#onTrouble(error);
    if (!this.#closing.signal.aborted) this.#timer ??= setTimeout(() => this.#post(), retryMs);
  }
}
