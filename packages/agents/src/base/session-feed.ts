import { asError, type EventDraft, type TurnEvent, type UpsertObject } from '@liminal/protocol';
import type { SessionOutput } from '../contract/driver.ts';
import type { SessionExit, SessionUpdate, Unsubscribe } from '../contract/provider.ts';
import { TurnUpserts } from './turn-upserts.ts';

/** The events of a session. */
interface SessionEvents {
  event: EventDraft;
  upsert: UpsertObject;
  turn: TurnEvent;
  update: SessionUpdate;
  exit: SessionExit;
}

/**
 * One session's listeners at a `DriverProvider`. Listeners stay when the session ends and starts again.
 *
 * Upserts and turn events are folded from the drafts only while a listener wants them. A listener that is added
 * mid-turn starts with the next turn. Thus the listener gets only whole turns (invariant 4), and no turn is buffered
 * without a listener.
 */
export class SessionFeed implements SessionOutput {
  readonly #sessionId: string;
  readonly #channels: { [K in keyof SessionEvents]: Channel<SessionEvents[K]> } = {
    event: new Channel(),
    upsert: new Channel(),
    turn: new Channel(),
    update: new Channel(),
    exit: new Channel(),
  };
  #turnUpserts: TurnUpserts | undefined;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  get hasNoSubscribers(): boolean {
    return Object.values(this.#channels).every(({ size }) => size === 0);
  }

  /** Adds a callback. A callback that is added twice is called twice; each returned function removes one of the two. */
  on<K extends keyof SessionEvents>(
    what: K,
    callback: (value: SessionEvents[K]) => void,
  ): Unsubscribe {
    const unsubscribe = this.#channels[what].add(callback);
    return () => {
      unsubscribe();
      if (!this.#hasUpsertSubscribers) this.#turnUpserts = this.#turnUpserts?.stop();
    };
  }

  emit(draft: EventDraft): void {
    this.#channels.event.send(draft);
    if (draft.payload.type === 'response_start') this.#beginUpserts();
    if (this.#turnUpserts?.push(draft) === 'ended') this.#turnUpserts = this.#turnUpserts.stop();
  }

  update(update: SessionUpdate): void {
    this.#channels.update.send(update);
  }

  exit(exit: SessionExit): void {
    this.#channels.exit.send(exit);
  }

  /** Removes all listeners. */
  close(): void {
    this.#turnUpserts = this.#turnUpserts?.stop();
    for (const channel of Object.values(this.#channels)) channel.close();
  }

  get #hasUpsertSubscribers(): boolean {
    return this.#channels.upsert.size + this.#channels.turn.size > 0;
  }

  #beginUpserts(): void {
    this.#turnUpserts?.stop();
    const { upsert, turn } = this.#channels;
    this.#turnUpserts = this.#hasUpsertSubscribers
      ? new TurnUpserts(this.#sessionId, upsert.currentSender(), turn.currentSender())
      : undefined;
  }
}

interface Subscriber<T> {
  callback: (value: T) => void;
  /**
   * False once the subscriber is removed: the subscriber then receives nothing more, not even the value that is being
   * sent at that moment.
   */
  isSubscribed: boolean;
}

/** The listeners for one kind of event. An exception in a callback affects neither the others nor the sender. */
class Channel<T> {
  /** This list is replaced on each change, never mutated, so that sending needs no copy of the list. */
  #subscribers: readonly Subscriber<T>[] = [];

  get size(): number {
    return this.#subscribers.length;
  }

  add(callback: (value: T) => void): Unsubscribe {
    const subscriber = { callback, isSubscribed: true };
    this.#subscribers = [...this.#subscribers, subscriber];
    return () => {
      subscriber.isSubscribed = false;
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
    };
  }

  send(value: T, subscribers = this.#subscribers): void {
    for (const { callback, isSubscribed } of subscribers) {
      if (!isSubscribed) continue;
      try {
        callback(value);
      } catch (error) {
        process.emitWarning(asError(error));
      }
    }
  }

  /**
   * Returns a function that sends a value to the present listeners. Listeners that are removed before the function is
   * called get no value.
   */
  currentSender(): (value: T) => void {
    const present = this.#subscribers;
    return (value) => this.send(value, present);
  }

  close(): void {
    for (const subscriber of this.#subscribers) subscriber.isSubscribed = false;
    this.#subscribers = [];
  }
}
