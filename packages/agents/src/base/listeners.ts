import {
  cutText,
  type EventDraft,
  type TurnEvent,
  type UpsertObject,
  withinDepth,
  withinSize,
} from '@liminal/protocol';
import type { SessionExit, SessionUpdate, Unsubscribe } from '../provider.ts';
import { Channel } from './channel.ts';
import { TurnView } from './turn-view.ts';

/** The door for all that an agent says. Text alone, of which there is most, has no depth. */
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

/** Everything that can be heard of one session. */
class Session {
  readonly events = new Channel<EventDraft>();
  readonly upserts = new Channel<UpsertObject>();
  readonly turns = new Channel<TurnEvent>();
  readonly updates = new Channel<SessionUpdate>();
  readonly exits = new Channel<SessionExit>();
  view: TurnView | undefined;

  get deserted(): boolean {
    return [this.events, this.upserts, this.turns, this.updates, this.exits].every(
      (channel) => channel.size === 0,
    );
  }
}

/**
 * The listening half of `CliProvider`, for a provider to hold and to forward its `on…` methods to. A listener belongs
 * to whoever added it: it stays over `killSession` and a later `loadSession`, until it unsubscribes or the provider
 * drops the session.
 *
 * Upserts and turn events are folded from the drafts only while somebody listens for them. Such a listener hears a
 * turn from its beginning or not at all: one that comes in mid-turn starts with the next turn, so that what it sees
 * is always a whole life (invariant 4) and no turn is buffered for listeners that never come.
 */
export class ProviderListeners {
  readonly #sessions = new Map<string, Session>();

  emit(sessionId: string, draft: EventDraft): void {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    const bounded = withinBounds(draft);
    session.events.send(bounded);
    this.#show(sessionId, session, bounded);
  }

  update(sessionId: string, update: SessionUpdate): void {
    this.#sessions.get(sessionId)?.updates.send(boundedUpdate(update));
  }

  exit(sessionId: string, exit: SessionExit): void {
    this.#sessions.get(sessionId)?.exits.send(exit);
  }

  onEvent(sessionId: string, callback: (event: EventDraft) => void): Unsubscribe {
    return this.#add(sessionId, (session) => session.events.add(callback));
  }

  onUpsert(sessionId: string, callback: (upsert: UpsertObject) => void): Unsubscribe {
    return this.#add(sessionId, (session) => session.upserts.add(callback));
  }

  onTurn(sessionId: string, callback: (event: TurnEvent) => void): Unsubscribe {
    return this.#add(sessionId, (session) => session.turns.add(callback));
  }

  onUpdate(sessionId: string, callback: (update: SessionUpdate) => void): Unsubscribe {
    return this.#add(sessionId, (session) => session.updates.add(callback));
  }

  onExit(sessionId: string, callback: (exit: SessionExit) => void): Unsubscribe {
    return this.#add(sessionId, (session) => session.exits.add(callback));
  }

  /** Forgets a session that is gone for good, its listeners with it. */
  drop(sessionId: string): void {
    this.#sessions.get(sessionId)?.view?.stop();
    this.#sessions.delete(sessionId);
  }

  /** Drops every session: for the provider's `close`. */
  close(): void {
    for (const sessionId of this.#sessions.keys()) this.drop(sessionId);
  }

  #add(sessionId: string, subscribe: (session: Session) => Unsubscribe): Unsubscribe {
    const session = this.#sessions.get(sessionId) ?? new Session();
    this.#sessions.set(sessionId, session);
    const unsubscribe = subscribe(session);
    return () => {
      unsubscribe();
      if (session.upserts.size + session.turns.size === 0) session.view = session.view?.stop();
      if (session.deserted && this.#sessions.get(sessionId) === session) this.drop(sessionId);
    };
  }

  #show(sessionId: string, session: Session, draft: EventDraft): void {
    if (draft.payload.type === 'response_start') {
      session.view?.stop();
      const heard = session.upserts.size + session.turns.size > 0;
      session.view = heard
        ? new TurnView(sessionId, session.upserts.audience(), session.turns.audience())
        : undefined;
    }
    if (session.view?.push(draft) === 'ended') session.view = session.view.stop();
  }
}
