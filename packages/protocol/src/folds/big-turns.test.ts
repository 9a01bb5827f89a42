import { describe, expect, it } from 'vitest';
import type { EventPayload, StreamEvent } from '../events.ts';
import { call, callDone, delta, messageDone, outputDone, text } from '../testing/payloads.ts';
import { runOf } from '../testing/run-of.ts';
import { emptyResponse, foldResponse, toResponse } from './response.ts';
import { nextFlushAt, foldUpsert, startUpsertFold } from './upsert.ts';

const start: EventPayload = { type: 'response_start', modelId: 'model', providerId: 'anthropic' };
const ids = (count: number) => Array.from({ length: count }, (_, index) => `item-${index}`);

const begin = (id: string) => [call(id, 'Read', `call-${id}`), delta(id, '{"path":"a"}')];
const end = (id: string) => [
  callDone(id, 'Read', `call-${id}`, { path: 'a' }),
  outputDone(`${id}-answer`, `call-${id}`, 'b'),
];

/** Turns with `count` items: one turn for each way in which a turn can be big. */
const turns: Record<string, (count: number) => EventPayload[]> = {
  'tool calls one after the other': (count) =>
    ids(count).flatMap((id) => [...begin(id), ...end(id)]),
  'tool calls that all run at once': (count) => [
    ...ids(count).flatMap(begin),
    ...ids(count).flatMap(end),
  ],
  'tool calls that all have one id': (count) =>
    ids(count).flatMap((id) => [
      call(id, 'Read', 'one'),
      callDone(id, 'Read', 'one', { path: 'a' }),
      outputDone(`${id}-answer`, 'one', 'b'),
    ]),
  'answers that all have one id': (count) => ids(count).map((id) => outputDone(id, 'one', 'b')),
  'texts one after the other': (count) =>
    ids(count).flatMap((id) => [text(id), delta(id, 'Hello'), messageDone(id, 'Hello')]),
  'texts of which every other is withdrawn': (count) =>
    ids(count).flatMap((id): EventPayload[] => [
      messageDone(`${id}-kept`, 'Hello'),
      text(id, 'reasoning'),
      { type: 'item_cancelled', itemId: id },
    ]),
};

const folds: Record<string, (events: StreamEvent[]) => void> = {
  response: (events) => void toResponse(events.reduce(foldResponse, emptyResponse())),
  upsert: (events) => {
    let state = startUpsertFold();
    for (const event of events) {
      state = foldUpsert(state, event, 0).state;
      nextFlushAt(state);
    }
  },
};

/** The processor time of folds in µs. */
function costOf(fold: (events: StreamEvent[]) => void, payloads: EventPayload[], times: number) {
  const events = runOf([start, ...payloads, { type: 'response_done', status: 'completed' }]);
  return () => {
    const before = process.cpuUsage();
    for (let time = 0; time < times; time += 1) fold(events);
    // User and system time are added, because for short work the system only estimates how the time is divided.
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
}

describe.each(Object.entries(folds))('the %s fold of a big turn', (_, fold) => {
  // If each step's cost grew with the number of items, a big turn would cost ten times as much as ten small turns.
  it.each(Object.entries(turns))('costs in proportion to its items: %s', (__, turn) => {
    const tenSmall = costOf(fold, turn(100), 10);
    const big = costOf(fold, turn(1_000), 1);
    let [small, large] = [Infinity, Infinity];
    // Other work on the machine only makes a measurement longer, so the minimum of several measurements counts.
    for (let tries = 0; tries < 8 && !(large / small < 3); tries += 1) {
      small = Math.min(small, tenSmall());
      large = Math.min(large, big());
    }
    expect(large / small).toBeLessThan(3);
  });
});
