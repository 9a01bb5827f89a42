import {
  asError,
  cutText,
  type EventDraft,
  type TurnEvent,
  type UpsertObject,
  withinDepth,
  withinSize,
} from '@liminal/protocol';
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
 * One session's listeners; bounds and passes on everything its agent emits. Listeners stay when the session ends and
 * starts again.
 *
 * Upserts and turn events are folded from the drafts only while they have a listener. A listener that is added mid-turn
 * starts with the next turn: so it gets only whole turns (invariant 4), and no turn is buffered without a listener.
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
  /** Updates that wait until the session is open. */
  #held: SessionUpdate | undefined;

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
    const { payload } = draft;
    // Most events are plain text deltas, which have no depth.
    const isText = payload.type === 'item_delta' && payload.patch === undefined;
    const bounded = isText ? draft : withinBounds(draft);
    this.#channels.event.send(bounded);
    if (bounded.payload.type === 'response_start') this.#beginUpserts();
    if (this.#turnUpserts?.push(bounded) === 'ended') this.#turnUpserts = this.#turnUpserts.stop();
  }

  update(update: SessionUpdate): void {
    const bounded = boundedUpdate(update);
    if (this.#held === undefined) this.#channels.update.send(bounded);
    else Object.assign(this.#held, bounded);
  }

  exit(exit: SessionExit): void {
    this.#channels.exit.send(exit);
  }

  /** Holds updates back. The returned function sends the held updates, or drops them if `isWanted` is false. */
  hold(): (isWanted: boolean) => void {
    const held: SessionUpdate = {};
    this.#held = held;
    return (isWanted) => {
      if (this.#held !== held) return;
      this.#held = undefined;
      if (isWanted && Object.keys(held).length > 0) this.#channels.update.send(held);
    };
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
   * False once the subscriber is removed: it then gets nothing more, not even the value that is being sent at that
   * moment.
   */
  isSubscribed: boolean;
}

/** The listeners for one kind of event. An exception in a callback affects neither the others nor the sender. */
class Channel<T> {
  /** This list is replaced on each change, never mutated, so that sending needs no copy of it. */
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
   * Returns a function that sends to the listeners of this moment, except listeners that have been removed in the
   * meantime.
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

/** Bounds the depth of an event. */
function withinBounds(draft: EventDraft): EventDraft {
  const { payload } = draft;
  const bounded = withinDepth(payload);
  return bounded === payload ? draft : { ...draft, payload: bounded };
}

/** The largest session update (commands, options, notices), in about the characters of its JSON. */
const maxUpdate = 256 * 1024;
/** Most characters of a session's title. */
const maxTitle = 1_000;

/** Bounds an update, because every change of the session sends the update's fields to every subscriber. */
function boundedUpdate({ title, ...update }: SessionUpdate): SessionUpdate {
  const bounded = withinSize(withinDepth(update), maxUpdate);
  if (title === undefined) return bounded;
  return { ...bounded, title: title.length > maxTitle ? cutText(title, maxTitle) : title };
}
