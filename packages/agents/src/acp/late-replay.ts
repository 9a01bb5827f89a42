import { isConversation, typeOf } from './translate/conversation.ts';

/** A replay that pauses for so long (ms) is over; one that does not come within that time does not come. */
const quietMs = 500;
/** It is waited for no longer than this (ms). */
const limitMs = 30_000;

/**
 * What an agent replays after it has answered `session/load`: some answer first, though the protocol has it the other
 * way round. It begins with a message of a user's, and none has been sent; what comes before that is new.
 */
export class LateReplay {
  /** Resolves when nothing more of it is expected. */
  readonly over: Promise<void>;
  readonly #quiet: NodeJS.Timeout;
  readonly #limit: NodeJS.Timeout;
  readonly #resolve: () => void;
  #hasBegun = false;
  #isOver = false;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#resolve = resolve;
    this.#quiet = setTimeout(() => this.end(), quietMs);
    this.#limit = setTimeout(() => this.end(), limitMs);
  }

  /** Whether an update is part of it. */
  takes(update: unknown): boolean {
    if (this.#isOver || !isConversation(update)) return false;
    this.#hasBegun ||= typeOf(update) === 'user_message_chunk';
    if (this.#hasBegun) this.#quiet.refresh();
    return this.#hasBegun;
  }

  /** Nobody waits for it any more. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#quiet);
    clearTimeout(this.#limit);
    this.#resolve();
  }
}
