import { isConversation, typeOf } from './translate/conversation.ts';

/** How a session came to be open: begun just now, or gone on with, with a replay of what was said or without. */
export type Opened = { how: 'begun' | 'resumed' } | { how: 'loaded'; isReplayDue: boolean };

/** A replay that pauses for so long (ms) is over; where nothing is known to be stored, it does not come later either. */
const quietMs = 500;
/** A replay that has to come is waited for so long (ms). */
const dueMs = 5_000;
/** It is waited for no longer than this (ms). */
const limitMs = 30_000;

/**
 * What an agent replays as it loads a session. The protocol has it before the answer to `session/load`; some answer
 * first. What comes late begins with a message of a user's, and none has been sent; what comes before that is new.
 */
export class Replay {
  readonly #over = Promise.withResolvers<void>();
  #updates: unknown[] = [];
  #state: 'early' | 'awaited' | 'late' | 'over' = 'early';
  #quiet: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;

  /** Resolves when nothing more of it is expected. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Whether an update is part of it. */
  takes(update: unknown): boolean {
    if (this.#state === 'over' || !isConversation(update)) return false;
    if (this.#state === 'awaited') {
      if (typeOf(update) !== 'user_message_chunk') return false;
      this.#state = 'late';
    }
    this.#updates.push(update);
    if (this.#state === 'late') this.#endAfter(quietMs);
    return true;
  }

  /** The agent has answered. A replay is due if something was said in the session before. */
  answered(opened: Opened): void {
    if (opened.how !== 'loaded' || this.#updates.length > 0) return this.end();
    this.#state = 'awaited';
    this.#endAfter(opened.isReplayDue ? dueMs : quietMs);
    this.#limit = setTimeout(() => this.end(), limitMs);
  }

  /** Nobody waits for it any more. */
  end(): void {
    this.#state = 'over';
    clearTimeout(this.#quiet);
    clearTimeout(this.#limit);
    this.#over.resolve();
  }

  /** The updates, whole and once. */
  async take(): Promise<unknown[]> {
    await this.over;
    const updates = this.#updates;
    this.#updates = [];
    return updates;
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.end(), ms);
  }
}
