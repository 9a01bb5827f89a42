import { decodeCursor, sizeOf } from '@liminal/protocol';
import type { HistoryReader, ResumedHistory } from '../history/index.ts';
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

/**
 * The most text that waits while a transport is full, in approximate characters of JSON: a healthy connection needs
 * no more.
 */
const backlogMax = 64 * 1024;

interface BacklogEntry {
  message: Outgoing;
  cursor: string | undefined;
}

/**
 * One subscriber: its cursor, and whether its transport has room. While the transport is full, a few messages wait for
 * room. If more messages arrive, the subscriber gets no messages until the transport has drained. Then, like a
 * subscriber with a cursor, it gets the newest state of everything that it missed (invariants 7 and 9).
 */
export class Subscriber {
  readonly deltas: boolean;
  readonly #options: SubscriberOptions;
  #state: 'behind' | 'loading' | 'live' | 'full' | 'closed' = 'behind';
  #cursor: string | undefined;
  #hasSentHistory = false;
  /** Whether the load in progress began before `markBehind` was called, and must be repeated. */
  #mustReload = false;
  #backlog: BacklogEntry[] = [];
  #backlogSize = 0;

  constructor(options: SubscriberOptions) {
    this.#options = options;
    this.deltas = options.deltas;
    this.#cursor = options.cursor;
  }

  /**
   * Whether the connection is slower than the session: messages wait, or are left out until the connection can take
   * more.
   */
  get isSlow(): boolean {
    return this.#state === 'full' || this.#state === 'behind';
  }

  /** Returns whether the newest message that this subscriber received belongs to this run. */
  hasReceivedFrom(runId: string): boolean {
    return this.#cursor !== undefined && decodeCursor(this.#cursor)?.runId === runId;
  }

  /**
   * Sends a message to a subscriber that is up to date. A subscriber that is not up to date gets the message's effect
   * when it catches up.
   */
  offer(message: Outgoing, cursor?: string): void {
    try {
      if (this.#state === 'live') this.#send({ message, cursor });
      else if (this.#state === 'full') this.#addToBacklog({ message, cursor });
    } catch (error) {
      // The error is not rethrown, so that the other subscribers get the message.
      this.#fail(error);
    }
  }

  /** If the transport has room, sends a waiting, late or new subscriber everything that it lacks. */
  catchUp(): void {
    if (this.#state === 'full') this.#sendBacklog();
    if (this.#state !== 'behind') return;
    this.#state = 'loading';
    const { sink } = this.#options;
    if (sink.whenRoom) sink.whenRoom(() => this.#load());
    else void this.#load();
  }

  /**
   * Marks that the subscriber has missed a part of the conversation. The subscriber gets the missed part in the same
   * way as a slow subscriber. If the subscriber's cursor may already be past the missed part, the subscriber gets
   * everything again.
   */
  markBehind(fromBeginning = false): void {
    if (fromBeginning) {
      this.#cursor = undefined;
      this.#mustReload = this.#state === 'loading';
    }
    const canTakeMore = this.#state === 'live';
    if (!canTakeMore && this.#state !== 'full') return;
    this.#forgetBacklog();
    this.#state = 'behind';
    if (canTakeMore) this.catchUp();
  }

  /** Sends a last message, even to a subscriber that is behind: the session has no further messages. */
  end(message: Outgoing): void {
    if (this.#isClosed()) return;
    this.close();
    this.#options.sink.send(message);
  }

  close(): void {
    this.#state = 'closed';
    this.#forgetBacklog();
  }

  #send({ message, cursor }: BacklogEntry): void {
    if (cursor !== undefined) this.#cursor = cursor;
    if (!this.#options.sink.send(message)) this.#state = 'full';
  }

  #addToBacklog(entry: BacklogEntry): void {
    this.#backlog.push(entry);
    this.#backlogSize += sizeOf(entry.message.message, backlogMax);
    if (this.#backlogSize <= backlogMax) return;
    this.#forgetBacklog();
    this.#state = 'behind';
  }

  #sendBacklog(): void {
    this.#state = 'live';
    const backlog = this.#backlog;
    this.#forgetBacklog();
    // If these messages fill the transport again, the remaining messages wait again.
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

  /** Called synchronously with the newest state: an event between the reading and this call would be lost. */
  #goLive(resumed: ResumedHistory): void {
    if (this.#isClosed()) return;
    if (this.#mustReload) {
      this.#mustReload = false;
      return void this.#load();
    }
    const { infoMessage, sessionId } = this.#options;
    this.#state = 'live';
    const missed = !this.#hasSentHistory || resumed.cursor !== this.#cursor;
    this.#hasSentHistory = true;
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
      // The transport is broken too, so the subscriber cannot be notified.
    }
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }
}
