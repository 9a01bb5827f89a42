import { decodeCursor, sizeOf } from '@liminal/protocol';
import type { HistoryReader, Resumed } from '../history/index.ts';
import type { Outgoing, Sink } from '../api.ts';
import { errorCode, errorMessage } from '../errors.ts';
import { outgoing } from './outgoing.ts';

interface SubscriberOptions {
  sessionId: string;
  /** The session's present state. */
  infoMessage: () => Outgoing;
  history: HistoryReader;
  sink: Sink;
  cursor: string | undefined;
  deltas: boolean;
}

/** The most that waits for a full transport, in about the characters of JSON: enough for a healthy reader. */
const BACKLOG_MAX = 64 * 1024;

interface Waiting {
  message: Outgoing;
  cursor: string | undefined;
}

/**
 * One reader: how far it has got, and whether it can take more. While its transport is full a little waits for it. Past
 * that it gets nothing until the transport has drained, and then what it lacks, as a reader with a cursor does
 * (invariants 7 and 9).
 */
export class Subscriber {
  readonly deltas: boolean;
  readonly #options: SubscriberOptions;
  #state: 'behind' | 'loading' | 'live' | 'full' | 'closed' = 'behind';
  #cursor: string | undefined;
  #greeted = false;
  /** The load under way begins too late and must be repeated. */
  #startsOver = false;
  #backlog: Waiting[] = [];
  #backlogSize = 0;

  constructor(options: SubscriberOptions) {
    this.#options = options;
    this.deltas = options.deltas;
    this.#cursor = options.cursor;
  }

  /** Whether its connection takes less than there is: the rest waits, or is left out until it can take more. */
  get isSlow(): boolean {
    return this.#state === 'full' || this.#state === 'behind';
  }

  /** Whether the newest message that it was given is of this run. */
  hasSome(runId: string): boolean {
    return this.#cursor !== undefined && decodeCursor(this.#cursor)?.runId === runId;
  }

  /** Gives a message to a reader that is up to date; others get its effect when they catch up. */
  offer(message: Outgoing, cursor?: string): void {
    try {
      if (this.#state === 'live') this.#send({ message, cursor });
      else if (this.#state === 'full') this.#keep({ message, cursor });
    } catch (error) {
      // The other readers go on.
      this.#fail(error);
    }
  }

  /** The transport can take more: brings a waiting, slow or new reader to the present. */
  catchUp(): void {
    if (this.#state === 'full') this.#sendBacklog();
    if (this.#state !== 'behind') return;
    this.#state = 'loading';
    const { sink } = this.#options;
    if (sink.whenRoom) sink.whenRoom(() => this.#load());
    else void this.#load();
  }

  /**
   * The reader missed something: it gets that as a slow reader does, or from the beginning if its cursor may already be
   * past it.
   */
  fallBehind(fromBeginning = false): void {
    if (fromBeginning) {
      this.#cursor = undefined;
      this.#startsOver = this.#state === 'loading';
    }
    const canTakeMore = this.#state === 'live';
    if (!canTakeMore && this.#state !== 'full') return;
    this.#forgetBacklog();
    this.#state = 'behind';
    if (canTakeMore) this.catchUp();
  }

  /** Gives it a last message, even if it is behind: it lacks nothing that is still there. */
  end(message: Outgoing): void {
    if (this.#isClosed()) return;
    this.close();
    this.#options.sink.send(message);
  }

  close(): void {
    this.#state = 'closed';
    this.#forgetBacklog();
  }

  #send({ message, cursor }: Waiting): void {
    if (cursor !== undefined) this.#cursor = cursor;
    if (!this.#options.sink.send(message)) this.#state = 'full';
  }

  #keep(waiting: Waiting): void {
    this.#backlog.push(waiting);
    this.#backlogSize += sizeOf(waiting.message.message, BACKLOG_MAX);
    if (this.#backlogSize <= BACKLOG_MAX) return;
    this.#forgetBacklog();
    this.#state = 'behind';
  }

  #sendBacklog(): void {
    this.#state = 'live';
    const backlog = this.#backlog;
    this.#forgetBacklog();
    // If this fills the transport again, the rest goes back to waiting.
    for (const { message, cursor } of backlog) this.offer(message, cursor);
  }

  #forgetBacklog(): void {
    this.#backlog = [];
    this.#backlogSize = 0;
  }

  async #load(): Promise<void> {
    const { history } = this.#options;
    try {
      await history.resume(() => this.#cursor, {
        take: (resumed) => this.#goLive(resumed),
        hasLeft: () => this.#isClosed(),
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Called synchronously with the newest state: an event between the two would be a gap. */
  #goLive(resumed: Resumed): void {
    if (this.#isClosed()) return;
    if (this.#startsOver) {
      this.#startsOver = false;
      return void this.#load();
    }
    const { infoMessage, sessionId } = this.#options;
    this.#state = 'live';
    const missed = !this.#greeted || resumed.cursor !== this.#cursor;
    this.#greeted = true;
    this.#cursor = resumed.cursor;
    if (missed) this.offer(outgoing({ type: 'session:history', sessionId, ...resumed }));
    this.offer(infoMessage());
  }

  #fail(error: unknown): void {
    if (this.#isClosed()) return;
    const { sink, sessionId } = this.#options;
    this.close();
    const problem = { code: errorCode(error), message: errorMessage(error) };
    try {
      sink.send(outgoing({ type: 'session:error', sessionId, ...problem }));
    } catch {
      // The transport is broken too: the reader cannot be told.
    }
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }
}
