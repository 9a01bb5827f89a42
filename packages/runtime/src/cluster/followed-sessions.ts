import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { BoundedMap } from '@liminal/protocol';
import type { Board, Unsubscribe } from '@liminal/storage';
import { settledPrefix } from './projector.ts';
import type { Storage } from '../history/index.ts';
import type { PostedState } from './posted-state.ts';
import {
  deletedPrefix,
  parsePostedState,
  postedStatePrefix,
  Report,
  reportPrefix,
} from './posted-state.ts';
import { errorCode } from '../errors.ts';
import { FollowedSession } from './followed-session.ts';
import type { SessionStates } from './session-states.ts';

/** Delay before failed sessions are read again, in ms. */
const retryMs = 1_000;
/** For how many sessions the fencing token of the last posting is remembered. */
const fencesMax = 10_000;

interface FollowedSessionsOptions {
  storage: Storage;
  board: Board;
  sessionStates: Pick<SessionStates, 'of'>;
  /** The current time in ms since the epoch. */
  now: () => number;
  onTrouble: (error: unknown) => void;
}

interface FollowedSessionsEvents {
  /** The owner of a session has posted the session's state. */
  posted: [PostedState];
  /** A session has been deleted. */
  deleted: [sessionId: string];
  /** Postings may have been missed. */
  gap: [];
}

/** A session and the number of its users on this server. */
interface InUse {
  opening: Promise<FollowedSession>;
  users: number;
}

/** The sessions that have subscribers on this server. */
export class FollowedSessions extends EventEmitter<FollowedSessionsEvents> {
  readonly #options: FollowedSessionsOptions;
  readonly #inUse = new Map<string, InUse>();
  /** Sessions that are in use and open. */
  readonly #open = new Map<string, FollowedSession>();
  /** The newest fencing token of each session's postings. The session with the latest posting comes last. */
  readonly #fences = new BoundedMap<string, number>(fencesMax);
  readonly #closing = new AbortController();
  #unsubscribe: Unsubscribe[] = [];

  constructor(options: FollowedSessionsOptions) {
    super();
    this.#options = options;
  }

  /** Subscribes to the postings. */
  async open(): Promise<void> {
    const { board, onTrouble } = this.#options;
    const onPost = (name: string, text: string): void => {
      try {
        this.#posted(name, text);
      } catch (error) {
        onTrouble(error);
      }
    };
    const refresh = (): void => {
      this.emit('gap');
      void this.#refresh(this.#open);
    };
    const nothing = (): void => {};
    this.#unsubscribe = await Promise.all([
      board.watch(postedStatePrefix, { onPost, onGap: refresh }),
      board.watch(settledPrefix, { onPost, onGap: nothing }),
      board.watch(reportPrefix, { onPost, onGap: nothing }),
      board.watch(deletedPrefix, { onPost, onGap: nothing }),
    ]);
  }

  /**
   * Follows a session until the caller calls `done`; the caller must call `done` exactly once. Throws
   * `SESSION_NOT_FOUND`.
   */
  async use(sessionId: string): Promise<{ followed: FollowedSession; done: () => void }> {
    const entry = this.#inUse.get(sessionId) ?? this.#begin(sessionId);
    entry.users += 1;
    const done = (): void => {
      entry.users -= 1;
      if (entry.users === 0) this.#drop(sessionId, entry);
    };
    try {
      return { followed: await entry.opening, done };
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Resolves when the subscribers of these sessions have the running turns up to their ends. */
  async read(sessionIds: readonly string[]): Promise<void> {
    const followedSessions = sessionIds.flatMap((sessionId) => this.#open.get(sessionId) ?? []);
    await Promise.all(followedSessions.map((followed) => followed.read()));
  }

  /** The number of subscribers of each session on this server. */
  get subscriberCounts(): { all: number; slow: number }[] {
    return [...this.#open.values()].map(({ subscribers }) => subscribers.counts);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#unsubscribe.map((leave) => leave()));
    const closing = [...this.#open.values()].map((followed) => followed.close());
    await Promise.all(closing);
  }

  #begin(sessionId: string): InUse {
    const entry = { opening: this.#start(sessionId), users: 0 };
    this.#inUse.set(sessionId, entry);
    return entry;
  }

  async #start(sessionId: string): Promise<FollowedSession> {
    const { sessionStates, storage, now, onTrouble } = this.#options;
    const postedState = await sessionStates.of(sessionId);
    const followed = new FollowedSession({ sessionId, storage, postedState, now, onTrouble });
    // From here on, the session receives postings.
    this.#open.set(sessionId, followed);
    try {
      await followed.open();
      const now = await this.#stateOf(sessionId, followed);
      if (now) followed.posted(now);
      return followed;
    } catch (error) {
      this.#open.delete(sessionId);
      await followed.close();
      throw error;
    }
  }

  #drop(sessionId: string, entry: InUse): void {
    if (this.#inUse.get(sessionId) === entry) this.#inUse.delete(sessionId);
    void entry.opening.then(
      (followed) => {
        if (this.#open.get(sessionId) === followed) this.#open.delete(sessionId);
        return followed.close();
      },
      () => undefined,
    );
  }

  #posted(name: string, text: string): void {
    if (name.startsWith(postedStatePrefix)) {
      const postedState = parsePostedState(text);
      if (!postedState || this.#isFormer(postedState)) return;
      this.#open.get(postedState.info.session.sessionId)?.posted(postedState);
      this.emit('posted', postedState);
    } else if (name.startsWith(deletedPrefix)) {
      this.#deleted(name.slice(deletedPrefix.length));
    } else if (name.startsWith(settledPrefix)) {
      this.#open.get(text)?.settled(name.slice(settledPrefix.length));
    } else {
      const { code, message } = Report.parse(JSON.parse(text));
      this.#open.get(name.slice(reportPrefix.length))?.subscribers.report(code, message);
    }
  }

  /**
   * Returns whether a posting is from a former owner: a later owner has posted the session, and the former owner has
   * not noticed yet.
   */
  #isFormer({ info, fence }: PostedState): boolean {
    if (fence === undefined) return false;
    const { sessionId } = info.session;
    if (fence < (this.#fences.get(sessionId) ?? 0)) return true;
    this.#fences.set(sessionId, fence);
    return false;
  }

  #deleted(sessionId: string): void {
    const followed = this.#open.get(sessionId);
    // Later subscribers look the session up again.
    this.#inUse.delete(sessionId);
    this.#open.delete(sessionId);
    followed?.subscribers.deleted();
    void followed?.close();
    this.emit('deleted', sessionId);
  }

  /** Returns the session's state, or undefined if a newer one was posted while it was being read. */
  async #stateOf(sessionId: string, followed: FollowedSession): Promise<PostedState | undefined> {
    const { postedCount } = followed;
    const state = await this.#options.sessionStates.of(sessionId);
    return followed.postedCount === postedCount ? state : undefined;
  }

  /** Reads the sessions' states again. If a state cannot be read, retries until it can be read. */
  async #refresh(sessions: ReadonlyMap<string, FollowedSession>): Promise<void> {
    const failed = new Map<string, FollowedSession>();
    for (const [sessionId, followed] of sessions) {
      if (this.#open.get(sessionId) !== followed) continue;
      try {
        await followed.refresh(await this.#stateOf(sessionId, followed));
      } catch (error) {
        if (errorCode(error) === 'SESSION_NOT_FOUND') {
          this.#deleted(sessionId);
          continue;
        }
        if (failed.size === 0) this.#options.onTrouble(error);
        failed.set(sessionId, followed);
      }
    }
    if (failed.size === 0) return;
    const { signal } = this.#closing;
    await delay(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (!signal.aborted) await this.#refresh(failed);
  }
}
