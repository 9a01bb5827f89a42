import { atLength } from '@liminal/testkit/at-length';
import fc from 'fast-check';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { appendText } from '../append-text.ts';
import { EventPayload, isTerminal, StreamEvent } from '../events.ts';
import { Response } from '../response.ts';
import { eventScripts } from '../testing/event-scripts.ts';
import { naiveTurn, naiveViews } from '../testing/naive-folds.ts';
import { call, callDone, outputDone } from '../testing/payloads.ts';
import { runOf } from '../testing/run-of.ts';
import { type FoldOutput, TurnEvent, UpsertObject } from '../upserts.ts';
import { closeOpenItems, type Closing } from './close-open-items.ts';
import { responseToUpserts } from './history.ts';
import { itemText } from './item-text.ts';
import { emptyResponse, foldResponse, toResponse, type ResponseState } from './response.ts';
import type { UpsertFoldConfig } from './upsert-config.ts';
import type { UpsertFoldState } from './upsert-state.ts';
import { destroyUpsertFold, flushIdle, foldUpsert, startUpsertFold } from './upsert.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: atLength ? 250 : 100 });
const now = Date.UTC(2026, 5, 1);
const emittedAt = new Date(now).toISOString();

const configs: Partial<UpsertFoldConfig>[] = [
  {},
  { appends: true },
  { firstEmission: 'immediate', tokenCounter: (text) => text.length / 4 },
];
const anyConfig = fc.constantFrom(...configs);

function foldAll(events: readonly StreamEvent[], from = emptyResponse()): ResponseState {
  return events.reduce(foldResponse, from);
}

interface Folded {
  state: UpsertFoldState;
  outputs: FoldOutput[];
}

function upsertAll(events: readonly StreamEvent[], from: UpsertFoldState): Folded {
  let state = from;
  const outputs = events.flatMap((event) => {
    const step = foldUpsert(state, event, now);
    state = step.state;
    return step.outputs;
  });
  return { state, outputs };
}

/** The state of a reader that applies the outputs: it replaces, appends and removes items. */
function readerOf(outputs: readonly FoldOutput[]): Map<string, UpsertObject> {
  const shown = new Map<string, UpsertObject>();
  for (const output of outputs) {
    if (output.kind === 'upsert') shown.set(output.upsert.itemId, output.upsert);
    if (output.kind === 'discard') shown.delete(output.itemId);
    if (output.kind !== 'append') continue;
    const item = shown.get(output.itemId);
    const grown = item && appendText(item, output);
    if (!grown) throw new Error(`The append does not fit: ${JSON.stringify({ output, item })}`);
    shown.set(output.itemId, grown);
  }
  return shown;
}

function stored(state: ResponseState): Response {
  const response = toResponse(state);
  if (!response) throw new Error('no response_start');
  return response;
}

const statusesOf = (outputs: readonly FoldOutput[]) => {
  const lives = new Map<string, string>();
  for (const output of outputs) {
    const [id, word] =
      output.kind === 'upsert'
        ? [output.upsert.itemId, output.upsert.status]
        : output.kind === 'discard'
          ? [output.itemId, 'discard']
          : ['', ''];
    lives.set(id, `${lives.get(id) ?? ''}${word} `);
  }
  lives.delete('');
  return [...lives.values()];
};

const callsOfOneId = {
  call: (id: string) => [call(id, 'Read', 'one'), callDone(id, 'Read', 'one', { id })],
  failed: (id: string) => [
    call(id, 'Read', 'one'),
    { type: 'item_error', itemId: id, error: { code: 'X', message: 'Failed.' } } as const,
  ],
  withdrawn: (id: string) => [
    call(id, 'Read', 'one'),
    { type: 'item_cancelled', itemId: id } as const,
  ],
  answer: (id: string) => [outputDone(id, 'one', id)],
  answered: (id: string) => [
    call(id, 'Read', 'one'),
    callDone(id, 'Read', 'one', {}),
    outputDone(`${id}a`, 'one', id),
  ],
};

describe('generated runs', () => {
  it('are complete and valid, and include every type', () => {
    const types = new Set<string>();
    fc.assert(
      fc.property(eventScripts(), (events) => {
        for (const event of events) {
          expect(StreamEvent.parse(event)).toEqual(event);
          types.add(event.type);
        }
        expect(events[0]?.type).toBe('response_start');
        expect(events.filter(isTerminal)).toEqual([events.at(-1)]);
      }),
      { numRuns: 300 },
    );
    expect([...types].toSorted()).toEqual(EventPayload.options.map(typeOf).toSorted());
  });
});

const typeOf = (payload: (typeof EventPayload.options)[number]) => payload.shape.type.value;

describe('every item that starts ends before its run does', () => {
  it('INV-3 holds in the Response of every whole run', () => {
    fc.assert(
      fc.property(eventScripts(), (events) => {
        const state = foldAll(events);
        expect(state.open.size).toBe(0);
        for (const item of stored(state).outputItems) expect(item.endedAt).toBeDefined();
      }),
    );
  });

  it('INV-3 is restored by closeOpenItems wherever a run is cut off', () => {
    const closings = fc.constantFrom<Closing[]>(
      { status: 'completed' },
      { status: 'cancelled' },
      { status: 'error', error: { code: 'OWNER_LOST', message: 'The server went away.' } },
    );
    fc.assert(
      fc.property(eventScripts(), fc.nat(), closings, (events, at, closing) => {
        const prefix = events.slice(0, 1 + (at % (events.length - 1)));
        const cut = foldAll(prefix);
        const closers = closeOpenItems(cut, closing);
        for (const payload of closers) expect(EventPayload.parse(payload)).toEqual(payload);
        const end: EventPayload = { type: 'response_done', ...closing };
        const whole = runOf([...prefix.map(({ payload }) => payload), ...closers, end]);
        const closed = foldAll(whole);
        expect(closed.open.size).toBe(0);
        // Checks that no text is lost.
        const said = (state: ResponseState) =>
          stored(state).outputItems.map(itemText).filter(Boolean);
        expect(said(closed)).toEqual(said(cut));
      }),
    );
  });
});

describe('an upsert’s life is create → update* → complete | error, and ends as in the Response', () => {
  it('INV-4 keeps the order of each upsert’s statuses; the first status may be the last', () => {
    const life = /^((create (update )*)?(complete|error) )$/;
    fc.assert(
      fc.property(eventScripts(), anyConfig, (events, config) => {
        const { outputs } = upsertAll(events, startUpsertFold(config));
        for (const statuses of statusesOf(outputs)) {
          const lives = statuses.split('discard ').filter(Boolean);
          // The upserts of a discarded view may end with any status.
          const withdrawn = statuses.endsWith('discard ') ? lives : lives.slice(0, -1);
          const last = statuses.endsWith('discard ') ? [] : lives.slice(-1);
          for (const cut of withdrawn)
            expect(cut).toMatch(/^(create (update )*)?(complete |error )?$/);
          for (const whole of last) expect(whole).toMatch(life);
        }
      }),
    );
  });

  it('INV-4 has the same last states live and from history', () => {
    fc.assert(
      fc.property(eventScripts(), anyConfig, (events, config) => {
        const { state, outputs } = upsertAll(events, startUpsertFold(config));
        const history = responseToUpserts(stored(state.response), emittedAt);
        const live = readerOf(outputs);
        expect([...live.keys()].toSorted()).toEqual(history.map((u) => u.itemId).toSorted());
        for (const upsert of history) expect(live.get(upsert.itemId)).toStrictEqual(upsert);
      }),
    );
  });

  it('INV-4 has the same last states if a run ends with open items', () => {
    fc.assert(
      fc.property(eventScripts(), fc.nat(), anyConfig, (events, at, config) => {
        const prefix = events.slice(0, 1 + (at % (events.length - 1)));
        const cutOff = runOf([...prefix, events.at(-1)!].map(({ payload }) => payload));
        const { state, outputs } = upsertAll(cutOff, startUpsertFold(config));
        const history = responseToUpserts(stored(state.response), emittedAt);
        const live = readerOf(outputs);
        expect(history.map(({ status }) => status)).not.toContain('update');
        expect([...live.keys()].toSorted()).toEqual(history.map((u) => u.itemId).toSorted());
        for (const upsert of history) expect(live.get(upsert.itemId)).toStrictEqual(upsert);
      }),
    );
  });

  it('INV-4 has the same last states if a hundred calls and answers share one id', () => {
    const kind = fc.constantFrom('call', 'failed', 'withdrawn', 'answer', 'answered');
    fc.assert(
      fc.property(fc.array(kind, { minLength: 40, maxLength: 120 }), (kinds) => {
        const payloads = kinds.flatMap((one, n) => callsOfOneId[one](`i${n}`));
        const start = { type: 'response_start', modelId: 'm', providerId: 'p' } as const;
        const end = { type: 'response_done', status: 'completed' } as const;
        const run = runOf([start, ...payloads, end]);
        const { state, outputs } = upsertAll(run, startUpsertFold({ appends: true }));
        const history = responseToUpserts(stored(state.response), emittedAt);
        const live = readerOf(outputs);
        expect([...live.keys()].toSorted()).toEqual(history.map((u) => u.itemId).toSorted());
        for (const upsert of history) expect(live.get(upsert.itemId)).toStrictEqual(upsert);
      }),
    );
  });

  it('INV-4 a live reader of appends has the same state as the Response after every event', () => {
    const sameButStatus = ({ status, ...content }: UpsertObject) => ({
      ...content,
      sourceTimestamp: '',
      open: status === 'create' || status === 'update',
    });
    fc.assert(
      fc.property(eventScripts(), fc.nat(), (events, at) => {
        const prefix = events.slice(0, 1 + (at % events.length));
        const { state, outputs } = upsertAll(prefix, startUpsertFold({ appends: true }));
        const live = readerOf(outputs);
        const history = responseToUpserts(stored(state.response), emittedAt);
        expect([...live.keys()].toSorted()).toEqual(history.map((u) => u.itemId).toSorted());
        for (const upsert of history) {
          // Arguments that are still arriving are not shown until they are complete.
          const streaming = upsert.type === 'tool_call' && state.response.open.has(upsert.itemId);
          const held = live.get(upsert.itemId)!;
          const expected =
            streaming && held.type === 'tool_call'
              ? { ...upsert, toolArguments: held.toolArguments }
              : upsert;
          expect(sameButStatus(held)).toEqual(sameButStatus(expected));
        }
      }),
    );
  });

  it('INV-4, FR-001-01: upserts, turns and Responses match their schemas wherever a run is cut off', () => {
    fc.assert(
      fc.property(eventScripts(), fc.nat(), anyConfig, (events, at, config) => {
        const prefix = events.slice(0, 1 + (at % (events.length - 1)));
        const { state, outputs } = upsertAll(prefix, startUpsertFold(config));
        const end = destroyUpsertFold(state, now, { code: 'PROCESS_CRASH', message: 'It died.' });
        const given = [...outputs, ...end.outputs];
        const upserts = given.flatMap((output) =>
          output.kind === 'upsert' ? [output.upsert] : [],
        );
        const turns = given.flatMap((output) => (output.kind === 'turn' ? [output.event] : []));
        expect(z.array(UpsertObject).parse(upserts)).toStrictEqual(upserts);
        expect(z.array(TurnEvent).length(2).parse(turns)).toStrictEqual(turns);
        const response = stored(state.response);
        expect(Response.parse(response)).toStrictEqual(response);
      }),
    );
  });

  it('INV-4 agrees with a naive fold', () => {
    fc.assert(
      fc.property(eventScripts(), anyConfig, (events, config) => {
        const { outputs } = upsertAll(events, startUpsertFold(config));
        const live = [...readerOf(outputs)].map(([id, upsert]) => [id, summaryOf(upsert)] as const);
        expect(new Map(live)).toEqual(naiveViews(naiveTurn(events)));
      }),
    );
  });
});

const textsOf = (upsert: UpsertObject) => {
  if (upsert.type === 'message' || upsert.type === 'thinking') return upsert.content;
  return upsert.type === 'tool_call' ? (upsert.toolOutput ?? '') : '';
};

function summaryOf(upsert: UpsertObject) {
  const { type, status } = upsert;
  const named = upsert.errorCode !== 'CANCELLED' && !isTurnError(upsert);
  return { type, status, text: textsOf(upsert), errorCode: named ? upsert.errorCode : undefined };
}

const isTurnError = ({ errorCode }: UpsertObject) =>
  errorCode === 'RATE_LIMIT' || errorCode === 'MAX_TOKENS';

describe('a fold of a prefix, then the rest, is the fold of the whole', () => {
  it('INV-5 holds for both folds, and a state can be continued more than once', () => {
    fc.assert(
      fc.property(eventScripts(), fc.nat(), anyConfig, (events, at, config) => {
        const cut = at % (events.length + 1);
        const [prefix, rest] = [events.slice(0, cut), events.slice(cut)];
        const whole = upsertAll(events, startUpsertFold(config));
        const first = upsertAll(prefix, startUpsertFold(config));
        const before = toResponse(first.state.response);
        upsertAll(rest.toReversed(), first.state);
        const second = upsertAll(rest, first.state);
        expect(second.state).toEqual(whole.state);
        expect([...first.outputs, ...second.outputs]).toEqual(whole.outputs);
        expect(toResponse(first.state.response)).toEqual(before);
        expect(foldAll(rest, foldAll(prefix))).toEqual(foldAll(events));
      }),
    );
  });

  it('INV-5 holds for folds that share one Response, too', () => {
    fc.assert(
      fc.property(eventScripts(), anyConfig, anyConfig, (events, one, other) => {
        const folds = [one, other].map((config) => ({
          state: startUpsertFold(config),
          outputs: [] as FoldOutput[],
        }));
        let response = emptyResponse();
        for (const event of [...events, ...events.slice(-3)]) {
          response = foldResponse(response, event);
          for (const fold of folds) {
            const step = foldUpsert(fold.state, event, now, response);
            fold.state = step.state;
            fold.outputs.push(...step.outputs);
          }
        }
        expect(folds).toEqual(
          [one, other].map((config) => upsertAll(events, startUpsertFold(config))),
        );
      }),
      { numRuns: 80 },
    );
  });

  it('INV-5, FR-001-08: ignores duplicates', () => {
    const repeats = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 5 });
    fc.assert(
      fc.property(eventScripts(), repeats, anyConfig, (events, again, config) => {
        const repeated = events.flatMap((event, index) => [
          event,
          ...again
            .filter(([place]) => place % events.length === index)
            .map(([, which]) => events[which % (index + 1)]!),
        ]);
        const once = upsertAll(events, startUpsertFold(config));
        const twice = upsertAll(repeated, startUpsertFold(config));
        expect(twice).toEqual(once);
        expect(foldUpsert(once.state, events[0]!, now).state).toBe(once.state);
      }),
    );
  });

  it('INV-5 has the same final state for any batching of deltas', () => {
    fc.assert(
      fc.property(
        eventScripts(),
        fc.infiniteStream(fc.boolean()),
        anyConfig,
        (events, merge, config) => {
          const batched = batch(events, () => merge.next().value);
          const [whole, fewer] = [foldAll(events), foldAll(batched)];
          expect({ ...stored(fewer), lastSeq: 0 }).toEqual({ ...stored(whole), lastSeq: 0 });
          const shown = (run: StreamEvent[]) =>
            readerOf(upsertAll(run, startUpsertFold(config)).outputs);
          expect(shown(batched)).toEqual(shown(events));
        },
      ),
    );
  });

  it('INV-5 has the same final state whenever idle text is flushed', () => {
    const config = { batchTimeoutMs: 5 };
    fc.assert(
      fc.property(eventScripts(), fc.infiniteStream(fc.nat({ max: 9 })), (events, waits) => {
        let [state, time] = [startUpsertFold(config), now];
        const outputs = events.flatMap((event) => {
          const folded = foldUpsert(state, event, time);
          time += waits.next().value;
          const flushed = flushIdle(folded.state, time);
          state = flushed.state;
          return [...folded.outputs, ...flushed.outputs];
        });
        const timeless = (shown: Map<string, UpsertObject>) =>
          [...shown.values()].map((upsert) => ({ ...upsert, emittedAt }));
        const calm = upsertAll(events, startUpsertFold(config));
        expect(timeless(readerOf(outputs))).toEqual(
          expect.arrayContaining(timeless(readerOf(calm.outputs))),
        );
        expect(readerOf(outputs).size).toBe(readerOf(calm.outputs).size);
      }),
    );
  });

  it('INV-5, FR-001-15: agrees with a naive fold', () => {
    fc.assert(
      fc.property(eventScripts(), (events) => {
        const { items } = naiveTurn(events);
        const folded = stored(foldAll(events)).outputItems;
        const seen = folded.map((item) => ({
          id: item.id,
          type: item.type,
          text: itemText(item),
          errorCode: item.error?.code ?? (item.type === 'error' ? item.code : undefined),
        }));
        expect(seen).toEqual(
          items.map(({ id, type, text, errorCode }) => ({ id, type, text, errorCode })),
        );
      }),
    );
  });
});

/**
 * The same run, in which adjacent deltas of one item are merged if `merge` returns true. The result looks like the
 * deltas that a writer logs.
 */
function batch(events: StreamEvent[], merge: () => boolean): StreamEvent[] {
  const payloads: EventPayload[] = [];
  const times: string[] = [];
  for (const { payload, timestamp } of events) {
    const last = payloads.at(-1);
    const adjacent =
      last?.type === 'item_delta' &&
      payload.type === 'item_delta' &&
      last.itemId === payload.itemId;
    if (adjacent && merge()) {
      const patch = { ...last.patch, ...payload.patch };
      payloads[payloads.length - 1] = {
        ...last,
        deltaContent: last.deltaContent + payload.deltaContent,
        ...(Object.keys(patch).length > 0 && { patch }),
      };
    } else {
      payloads.push(payload);
      times.push(timestamp);
    }
  }
  return runOf(payloads).map((event, index) => ({ ...event, timestamp: times[index]! }));
}
