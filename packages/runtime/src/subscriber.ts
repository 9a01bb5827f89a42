import type { HistoryReader } from './history.ts';
import type { Outgoing, Sink } from './api.ts';
import { errorCode, errorMessage } from './errors.ts';
import { outgoing } from './outgoing.ts';
import type { SessionView } from './session-view.ts';

interface SubscriberOptions {
  sessionId: string;
  view: SessionView;
  history: HistoryReader;
  sink: Sink;
  cursor: string | undefined;
  deltas: boolean;
}

/**
 * One reader: how far it has got, and whether it can take more. While its transport is full it is given nothing;
 * when that has drained it gets what it lacks, the way a reader with a cursor does (invariants 7 and 9).
 */
export class Subscriber {
  readonly deltas: boolean;
  readonly #options: SubscriberOptions;
  #state: 'behind' | 'loading' | 'live' | 'closed' = 'behind';
  #cursor: string | undefined;
  #greeted = false;

  constructor(options: SubscriberOptions) {
    this.#options = options;
    this.deltas = options.deltas;
    this.#cursor = options.cursor;
  }

  /** Gives a message to a reader that is up to date; others will get its effect when they catch up. */
  offer(message: Outgoing, cursor?: string): void {
    if (this.#state !== 'live') return;
    if (cursor !== undefined) this.#cursor = cursor;
    if (!this.#options.sink.send(message)) this.#state = 'behind';
  }

  /** Brings a reader that has fallen behind, or is new, to the present. */
  catchUp(): void {
    if (this.#state !== 'behind') return;
    this.#state = 'loading';
    void this.#load();
  }

  close(): void {
    this.#state = 'closed';
  }

  async #load(): Promise<void> {
    const { view, history, sessionId } = this.#options;
    try {
      const resumed = await history.resume(this.#cursor);
      // From here to `live` nothing may wait: an event in between would be a gap.
      if (this.#isClosed()) return;
      this.#state = 'live';
      const missed = !this.#greeted || resumed.cursor !== this.#cursor;
      this.#greeted = true;
      this.#cursor = resumed.cursor;
      if (missed) this.offer(outgoing({ type: 'session:history', sessionId, ...resumed }));
      this.#offerAlways(view.infoMessage());
    } catch (error) {
      this.#fail(error);
    }
  }

  /** For what no later catching up would repeat: small, and sent though the transport is full. */
  #offerAlways(message: Outgoing): void {
    if (this.#isClosed()) return;
    if (!this.#options.sink.send(message)) this.#state = 'behind';
  }

  #fail(error: unknown): void {
    if (this.#isClosed()) return;
    const { sink, sessionId } = this.#options;
    this.#state = 'closed';
    sink.send(
      outgoing({
        type: 'session:error',
        sessionId,
        code: errorCode(error),
        message: errorMessage(error),
      }),
    );
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }
}
