import {
  EventPayload,
  isTerminal,
  stampEvent,
  type EventDraft,
  type StreamEvent,
  type TurnEvent,
  type UpsertObject,
} from '@liminal/protocol';
import { expect } from 'vitest';
import type { CliProvider, SessionExit, SessionUpdate } from '../contract/provider.ts';

/** Collects all events of one session, and can wait for events. */
export class Watch {
  readonly events: EventDraft[] = [];
  readonly upserts: UpsertObject[] = [];
  readonly turns: TurnEvent[] = [];
  readonly exits: SessionExit[] = [];
  readonly updates: SessionUpdate[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(provider: CliProvider, sessionId: string) {
    const into =
      <T>(received: T[]) =>
      (one: T): void => {
        received.push(one);
        for (const check of this.#waiting) check();
      };
    provider.onEvent(sessionId, into(this.events));
    provider.onUpsert(sessionId, into(this.upserts));
    provider.onTurn(sessionId, into(this.turns));
    provider.onExit(sessionId, into(this.exits));
    provider.onUpdate(sessionId, into(this.updates));
  }

  /** The agent's own id for the session, if the agent has reported it. */
  get storedId(): string | undefined {
    return this.updates.flatMap(({ agentSessionId }) => agentSessionId ?? []).at(-1);
  }

  /** Waits until `look` returns a value; only the test's own time limit ends the wait. */
  until<T>(look: () => T | undefined | false): Promise<T> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = look();
        if (found === undefined || found === false) return;
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }

  /** Waits for the first event of this type in a turn. */
  event<T extends EventPayload['type']>(
    turnId: string,
    type: T,
  ): Promise<Extract<EventPayload, { type: T }>> {
    return this.until(() =>
      this.of(turnId)
        .map(({ payload }) => payload)
        .find((payload): payload is Extract<EventPayload, { type: T }> => payload.type === type),
    );
  }

  /** Waits for the turn's end; returns the turn's events, with numbers and times. */
  async ended(turnId: string): Promise<StreamEvent[]> {
    await this.until(() => this.of(turnId).some(({ payload }) => isTerminal(payload)));
    const traceContext = { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` };
    const run = { sessionId: 'watched', runId: turnId, traceContext };
    return this.of(turnId).map((draft, seq) => stampEvent(draft, run, seq));
  }

  of(turnId: string): EventDraft[] {
    return this.events.filter((draft) => draft.turnId === turnId);
  }
}

/**
 * Expects that a turn begins exactly once, that only its last event ends the turn (invariant 2), and that no item stays
 * open (invariant 3).
 */
export function expectWholeTurn(events: readonly StreamEvent[]): void {
  expect(events[0]?.type).toBe('response_start');
  expect(events.filter(({ type }) => type === 'response_start')).toHaveLength(1);
  expect(events.map(isTerminal)).toEqual([...events.slice(1).map(() => false), true]);
  const open = new Set<string>();
  for (const { payload } of events) {
    if (payload.type === 'item_start' || payload.type === 'script_execution_start') {
      expect(open).not.toContain(payload.itemId);
      open.add(payload.itemId);
    } else if ('itemId' in payload) {
      if (payload.type === 'item_delta') expect(open).toContain(payload.itemId);
      else open.delete(payload.itemId);
    }
  }
  expect([...open]).toEqual([]);
}
