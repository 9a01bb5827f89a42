import fc from 'fast-check';
import { expect, it } from 'vitest';
import { appendText } from '../append-text.ts';
import { eventScripts } from '../testing/event-scripts.ts';
import type { StreamEvent } from '../events.ts';
import type { FoldOutput, UpsertObject } from '../upserts.ts';
import { responseToUpserts } from './history.ts';
import { emptyResponse, foldResponse, toResponse, type ResponseState } from './response.ts';
import { resumeResponse, resumeUpsertFold } from './resume.ts';
import { foldUpsert, startUpsertFold } from './upsert.ts';

const now = Date.UTC(2026, 5, 1);
const emittedAt = new Date(now).toISOString();
/** A run, and a position for a snapshot after at least one event. */
const cutRuns = fc
  .tuple(eventScripts(), fc.nat())
  .map(([events, at]) => ({ events, cut: 1 + (at % events.length) }));

const fold = (events: readonly StreamEvent[], from: ResponseState) =>
  events.reduce(foldResponse, from);

function snapshot(events: readonly StreamEvent[]) {
  const response = toResponse(fold(events, emptyResponse()));
  if (!response) throw new Error('The run has not begun.');
  // The Response is converted to JSON and back, as if it came from a store.
  return JSON.parse(JSON.stringify(response)) as typeof response;
}

it('INV-5: a Response and the events after it fold to the same state as all events', () => {
  fc.assert(
    fc.property(cutRuns, ({ events, cut }) => {
      const resumed = fold(events, resumeResponse(snapshot(events.slice(0, cut))));
      expect(toResponse(resumed)).toEqual(toResponse(fold(events, emptyResponse())));
      expect(resumed.open.size).toBe(0);
    }),
  );
});

it('INV-5: a reader of a snapshot and the later events reaches the same final state', () => {
  fc.assert(
    fc.property(cutRuns, fc.boolean(), ({ events, cut }, appends) => {
      const stored = snapshot(events.slice(0, cut));
      let state = resumeUpsertFold(resumeResponse(stored), { appends });
      const outputs = events.flatMap((event) => {
        const step = foldUpsert(state, event, now);
        state = step.state;
        return step.outputs;
      });
      const held = readerOf(responseToUpserts(stored, emittedAt), outputs);
      const whole = responseToUpserts(snapshot(events), emittedAt);
      expect([...held.keys()].toSorted()).toEqual(whole.map(({ itemId }) => itemId).toSorted());
      for (const upsert of whole) expect(held.get(upsert.itemId)).toEqual(upsert);
    }),
  );
});

it('a run without events begins in the same way as any other run', () => {
  expect(resumeUpsertFold(emptyResponse())).toEqual(startUpsertFold());
});

function readerOf(history: readonly UpsertObject[], outputs: readonly FoldOutput[]) {
  const held = new Map(history.map((upsert) => [upsert.itemId, upsert]));
  for (const output of outputs) {
    if (output.kind === 'upsert') held.set(output.upsert.itemId, output.upsert);
    if (output.kind === 'discard') held.delete(output.itemId);
    if (output.kind !== 'append') continue;
    const grown = appendText(held.get(output.itemId)!, output);
    if (!grown) throw new Error(`The append does not fit: ${JSON.stringify(output)}`);
    held.set(output.itemId, grown);
  }
  return held;
}
