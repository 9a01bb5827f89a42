import { isConversation } from './translate/conversation.ts';
import { updateType } from './translate/fields.ts';

/** How a session was opened: as a new session (`begun`), with a replay (`loaded`), or without a replay (`resumed`). */
export type Opened = { how: 'begun' | 'resumed' } | { how: 'loaded'; isReplayDue: boolean };

/**
 * A replay that continues after the answer to `session/load` ends with a pause of this length (ms): before the first
 * prompt, an agent sends only repetitions. If Liminal does not know of an answer in the session, Liminal expects no
 * replay after this time.
 */
const quietMs = 500;
/** How long to wait for an expected replay to begin (ms). */
const dueMs = 5_000;
/** The longest wait in total (ms). */
const limitMs = 30_000;

/**
 * The replay that an agent sends when it loads a session. By the protocol the replay comes before the answer to
 * `session/load`; some agents answer before or during the replay (Gemini CLI 0.61, after the first update). If a replay
 * begins after the answer, its first update is a user's message, because Liminal has sent no prompt yet. Updates before
 * the first user's message are therefore new.
 */
export class Replay {
  readonly #ended = Promise.withResolvers<void>();
  #updates: unknown[] = [];
  #state: 'early' | 'awaited' | 'late' | 'over' = 'early';
  #quiet: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;

  /** Resolves when no further update of the replay is expected. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Returns whether an update is part of the replay; if so, keeps the update. */
  takes(update: unknown): boolean {
    if (this.#state === 'over' || !isConversation(update)) return false;
    if (this.#state === 'awaited') {
      if (updateType(update) !== 'user_message_chunk') return false;
      this.#state = 'late';
    }
    this.#updates.push(update);
    if (this.#state === 'late') this.#endAfter(quietMs);
    return true;
  }

  /**
   * Called when the agent has answered the opening request. A replay is expected if the agent has ever answered in this
   * session.
   */
  answered(opened: Opened): void {
    if (opened.how !== 'loaded') return this.end();
    const hasBegun = this.#updates.length > 0;
    this.#state = hasBegun ? 'late' : 'awaited';
    this.#endAfter(opened.isReplayDue && !hasBegun ? dueMs : quietMs);
    this.#limit = setTimeout(() => this.end(), limitMs);
  }

  /** Stops waiting for the replay. */
  end(): void {
    this.#state = 'over';
    clearTimeout(this.#quiet);
    clearTimeout(this.#limit);
    this.#ended.resolve();
  }

  /** Waits for the end of the replay, and returns its updates; a second call returns no updates. */
  async take(): Promise<unknown[]> {
    await this.ended;
    const updates = this.#updates;
    this.#updates = [];
    return updates;
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.end(), ms);
  }
}
