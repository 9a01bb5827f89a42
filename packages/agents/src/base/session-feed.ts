import {
  cutText,
  type EventDraft,
  type TurnEvent,
  type UpsertObject,
  withinDepth,
  withinSize,
} from '@liminal/protocol';
import type { SessionOutput } from '../driver.ts';
import type { SessionExit, SessionUpdate, Unsubscribe } from '../provider.ts';
import { TurnUpserts } from './turn-upserts.ts';

/** All that can be heard of a session. */
interface Heard {
  event: EventDraft;
  upsert: UpsertObject;
  turn: TurnEvent;
  update: SessionUpdate;
  exit: SessionExit;
}

/**
 * One session's listeners, and the door for all that its agent says. A listener belongs to whoever added it: it stays
 * over the session's end and a later beginning.
 *
 * Upserts and turn events are folded from the drafts only while somebody listens for them. Such a listener hears a
 * turn from its beginning or not at all: one that comes in mid-turn starts with the next turn, so that what it sees
 * is always a whole life (invariant 4) and no turn is buffered for listeners that never come.
 */
export class SessionFeed implements SessionOutput {
  readonly #sessionId: string;
  readonly #channels: { [K in keyof Heard]: Channel<Heard[K]> } = {
    event: new Channel(),
    upsert: new Channel(),
    turn: new Channel(),
    update: new Channel(),
    exit: new Channel(),
  };
  #view: TurnUpserts | undefined;
  /** News that wait for the session to be open. */
  #held: SessionUpdate | undefined;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  get isDeserted(): boolean {
    return Object.values(this.#channels).every(({ size }) => size === 0);
  }

  /** The same callback added twice is called twice; each call of a result takes away its own. */
  on<K extends keyof Heard>(what: K, callback: (value: Heard[K]) => void): Unsubscribe {
    const unsubscribe = this.#channels[what].add(callback);
    return () => {
      unsubscribe();
      if (!this.#isWatched) this.#view = this.#view?.stop();
    };
  }

  emit(draft: EventDraft): void {
    const bounded = withinBounds(draft);
    this.#channels.event.send(bounded);
    if (bounded.payload.type === 'response_start') this.#beginView();
    if (this.#view?.push(bounded) === 'ended') this.#view = this.#view.stop();
  }

  update(update: SessionUpdate): void {
    const bounded = boundedUpdate(update);
    if (this.#held === undefined) this.#channels.update.send(bounded);
    else Object.assign(this.#held, bounded);
  }

  exit(exit: SessionExit): void {
    this.#channels.exit.send(exit);
  }

  /** Keeps news back. What it gives lets them go, or drops them where they are not wanted any more. */
  hold(): (isWanted: boolean) => void {
    const held: SessionUpdate = {};
    this.#held = held;
    return (isWanted) => {
      if (this.#held !== held) return;
      this.#held = undefined;
      if (isWanted && Object.keys(held).length > 0) this.#channels.update.send(held);
    };
  }

  /** Nobody hears anything any more. */
  close(): void {
    this.#view = this.#view?.stop();
    for (const channel of Object.values(this.#channels)) channel.close();
  }

  get #isWatched(): boolean {
    return this.#channels.upsert.size + this.#channels.turn.size > 0;
  }

  #beginView(): void {
    this.#view?.stop();
    const { upsert, turn } = this.#channels;
    this.#view = this.#isWatched
      ? new TurnUpserts(this.#sessionId, upsert.audience(), turn.audience())
      : undefined;
  }
}

interface Listener<T> {
  callback: (value: T) => void;
  /** False once it has left: it then hears nothing more, not even what is being said just now. */
  listens: boolean;
}

/** Who listens for one kind of thing. A callback that throws hurts neither the others nor the speaker. */
class Channel<T> {
  /** Replaced when somebody comes or leaves, never changed: speaking, which is frequent, copies nothing. */
  #listeners: readonly Listener<T>[] = [];

  get size(): number {
    return this.#listeners.length;
  }

  add(callback: (value: T) => void): Unsubscribe {
    const listener = { callback, listens: true };
    this.#listeners = [...this.#listeners, listener];
    return () => {
      listener.listens = false;
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  send(value: T): void {
    speak(this.#listeners, value);
  }

  /** A way to speak to those who listen now: who comes later is not among them, who leaves is gone. */
  audience(): (value: T) => void {
    const present = this.#listeners;
    return (value) => speak(present, value);
  }

  close(): void {
    for (const listener of this.#listeners) listener.listens = false;
    this.#listeners = [];
  }
}

function speak<T>(listeners: readonly Listener<T>[], value: T): void {
  for (const { callback, listens } of listeners) {
    if (!listens) continue;
    try {
      callback(value);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

/** The bound on depth for all that an agent says. Text alone, of which there is most, has no depth. */
function withinBounds(draft: EventDraft): EventDraft {
  const { payload } = draft;
  if (payload.type === 'item_delta' && payload.patch === undefined) return draft;
  const bounded = withinDepth(payload);
  return bounded === payload ? draft : { ...draft, payload: bounded };
}

/** What is told of a session (commands, options, notices) is no larger than this, about the characters of its JSON. */
const maxUpdate = 256 * 1024;
/** Characters of a session's title. */
const maxTitle = 1_000;

/** Every reader is told it with each change of the session. */
function boundedUpdate({ title, ...update }: SessionUpdate): SessionUpdate {
  const bounded = withinSize(withinDepth(update), maxUpdate);
  if (title === undefined) return bounded;
  return { ...bounded, title: title.length > maxTitle ? cutText(title, maxTitle) : title };
}
