import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { eventScripts } from '@liminal/protocol/testing';
import { atLength } from '@liminal/testkit/at-length';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClientState } from './testing/client-state.ts';
import {
  showsAll,
  showsLittle,
  foldCheckedEvents,
  foldCheckedSnapshot,
  updatesOf,
} from './testing/checked-fold.ts';

/**
 * Changes random events so that they are like the events of agents: a call's id is known when the call begins, an
 * answered call does not fail any more, and a turn has only one plan. Every second call is a command in all its events.
 */
function plausible(events: readonly StreamEvent[]): StreamEvent[] {
  const answered = new Set<string>();
  let plan: string | undefined;
  return events.flatMap((event) => {
    const { payload } = event;
    if (isOfPlan(payload)) {
      plan ??= payload.itemId;
      if (plan !== payload.itemId) return [];
    }
    if (payload.type === 'item_done' && payload.finalItem.type === 'function_call_output') {
      answered.add(payload.finalItem.callId);
    }
    if (payload.type === 'item_start' && payload.itemType === 'function_call_output') {
      answered.add(payload.callId ?? '');
    }
    if (payload.type === 'item_error' && answered.has(`${payload.itemId}-call`)) {
      return { ...event, type: 'item_done', payload: ended(payload.itemId) } as StreamEvent;
    }
    if (payload.type === 'item_delta' && payload.patch?.kind !== undefined) {
      const { kind: _, ...patch } = payload.patch;
      return { ...event, payload: { ...payload, patch } } as StreamEvent;
    }
    const isCall = payload.type === 'item_start' && payload.itemType === 'function_call';
    if (!isCall) return event;
    const { itemId } = payload;
    const kind = /[02468]$/.test(itemId) ? 'execute' : undefined;
    return { ...event, payload: { ...payload, callId: `${itemId}-call`, kind } } as StreamEvent;
  });
}

function ended(id: string): EventPayload {
  const call = { id, type: 'function_call', name: 'Edit', callId: `${id}-call` } as const;
  return {
    type: 'item_done',
    itemId: id,
    finalItem: { ...call, arguments: '{}', origin: 'agent' },
  };
}

function isOfPlan(payload: EventPayload): payload is Extract<EventPayload, { itemId: string }> {
  if (payload.type === 'item_start') return payload.itemType === 'plan';
  return payload.type === 'item_done' && payload.finalItem.type === 'plan';
}

/** A run, and the options with which the run is sent to the client. */
const tellings = fc.record({
  events: eventScripts().map(plausible),
  shows: fc.constantFrom(showsAll, showsLittle).map((shows) => ({ ...shows, notices: false })),
  isOwn: fc.boolean(),
});

const seen = (told: ConstructorParameters<typeof ClientState>[0]) => new ClientState(told).seen;

test('FR-039-01: a client that attaches late has the same final state as a client that was attached from the beginning', () => {
  fc.assert(
    fc.property(tellings, ({ events, ...telling }) => {
      const live = seen(foldCheckedEvents(events, telling).updates);
      expect(seen(foldCheckedSnapshot(events, telling).updates)).toEqual(live);
    }),
    { numRuns: atLength ? 5_000 : 300 },
  );
});

test('INV-5: FR-039-05: the final state is the same if the first events are sent in one step and all other events one by one', () => {
  fc.assert(
    fc.property(tellings, fc.nat(), ({ events, ...telling }, place) => {
      const at = place % (events.length + 1);
      const prefix = foldCheckedSnapshot(events.slice(0, at), telling);
      const rest = foldCheckedEvents(events, telling, prefix.state);
      const told = [...prefix.updates, ...rest.updates];
      expect(seen(told)).toEqual(seen(foldCheckedEvents(events, telling).updates));
    }),
    { numRuns: atLength ? 5_000 : 300 },
  );
});

test('INV-5: FR-039-05: a repeated event causes no update', () => {
  fc.assert(
    fc.property(tellings, ({ events, ...telling }) => {
      const once = foldCheckedEvents(events, telling);
      const twice = foldCheckedEvents(
        events.flatMap((event) => [event, event]),
        telling,
      );
      expect(twice.updates).toEqual(once.updates);
      expect(foldCheckedEvents(events, telling, once.state).updates).toEqual([]);
      expect(foldCheckedSnapshot(events, telling, once.state).updates).toEqual([]);
    }),
  );
});

/**
 * Returns the total size of all updates for one output, message or thought that arrives in several parts, in
 * characters.
 */
function sentSize(
  kind: 'message' | 'reasoning' | 'function_call_output',
  pieces: readonly string[],
  shows = showsLittle,
) {
  const itemId = 'grows';
  const payloads: EventPayload[] = [
    { type: 'item_start', itemId: 'call', itemType: 'function_call', callId: 'c', kind: 'execute' },
    { type: 'item_start', itemId, itemType: kind, callId: 'c' },
    ...pieces.map((deltaContent): EventPayload => ({ type: 'item_delta', itemId, deltaContent })),
  ];
  const updates = updatesOf(payloads, { shows });
  return updates.reduce((sum, update) => sum + JSON.stringify(update).length, 0);
}

test.each([
  ['message', showsLittle],
  ['reasoning', showsLittle],
  ['function_call_output', showsLittle],
  ['function_call_output', showsAll],
] as const)(
  'FR-039-05: the size of all updates of a %s grows linearly with its length, not with the square of its length',
  (kind, shows) => {
    const pieces = (count: number) => Array.from({ length: count }, () => 'word '.repeat(20));
    const [short, long] = [
      sentSize(kind, pieces(200), shows),
      sentSize(kind, pieces(4_000), shows),
    ];
    expect(long / short).toBeLessThan(30);
    expect(long).toBeLessThan(4_000 * 100 * 8);
  },
);
