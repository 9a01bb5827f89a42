import type { SessionSummary } from '@liminal/protocol';
import type { Board, BlobStore, ResponseStore } from '@liminal/storage';
import { errors } from '../errors.ts';
import { readLastKnown, summarize } from '../session/index.ts';
import type { Ownership } from './ownership.ts';
import { readPostedState, type PostedState, postedStatePrefix } from './posted-state.ts';

interface SessionStatesOptions {
  board: Board;
  store: ResponseStore;
  blobs: BlobStore;
  ownership: Ownership;
}

/** The states of sessions: the state that the owner has posted, or the stored state if the session has no owner. */
export class SessionStates {
  readonly #options: SessionStatesOptions;

  constructor(options: SessionStatesOptions) {
    this.#options = options;
  }

  /** Throws `SESSION_NOT_FOUND`. */
  async of(sessionId: string): Promise<PostedState> {
    const posted = await this.#postedStates([sessionId]);
    return posted.get(sessionId) ?? this.stored(sessionId);
  }

  /** The summaries of those given sessions that have an owner. */
  async summaries(sessionIds: readonly string[]): Promise<Map<string, SessionSummary>> {
    const posted = await this.#postedStates(sessionIds);
    return new Map([...posted].map(([sessionId, { info }]) => [sessionId, info.session]));
  }

  /** The state of a session without an owner. Throws `SESSION_NOT_FOUND`. */
  async stored(sessionId: string): Promise<PostedState> {
    const record = await this.#options.store.getSession(sessionId);
    if (!record) {
      throw errors.SESSION_NOT_FOUND.notHere(sessionId);
    }
    const lastKnown = await readLastKnown(this.#options.blobs, record, Date.now());
    return {
      info: {
        session: summarize(record),
        queue: record.queue,
        ...(lastKnown ? { ...lastKnown, lastKnown: true } : { configOptions: [], commands: [] }),
      },
    };
  }

  /** Returns the states that the owners of these sessions have posted. */
  async #postedStates(sessionIds: readonly string[]): Promise<Map<string, PostedState>> {
    const leases = await this.#options.ownership.leasesOf(sessionIds);
    const owned = sessionIds.filter((sessionId) => leases.has(sessionId));
    const texts = await this.#options.board.read(owned.map((id) => postedStatePrefix + id));
    return new Map(
      owned.flatMap((sessionId) => {
        const posted = readPostedState(texts.get(postedStatePrefix + sessionId));
        // True if the posting is from a former owner. The present owner has then posted nothing yet.
        const isFormer = (posted?.fence ?? 0) < (leases.get(sessionId)?.token ?? 0);
        return posted && !isFormer ? [[sessionId, posted] as const] : [];
      }),
    );
  }
}
