/** Generates hostile streams of canonical events. The events have the right types, but unexpected contents. */
import { EventPayload, type StreamEvent, withinDepth } from '@liminal/protocol';
import fc from 'fast-check';
import { eventScripts } from '../../../packages/protocol/src/testing/event-scripts.ts';
import { runOf } from '../../../packages/protocol/src/testing/run-of.ts';
import { type HostileStream, linesOf } from './stream.ts';

/** Fixed runs. The streams are made from these runs. */
const scripts = fc
  .sample(eventScripts(), { seed: 1, numRuns: 60 })
  .map((events) => events.map(({ payload }) => payload).slice(1));

const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };

/**
 * Returns a run that begins like every run, and continues with hostile events. Invalid events are left out, and values
 * that are nested too deeply are cut as a provider cuts them.
 */
export function hostileRun(stream: HostileStream, run: Parameters<typeof runOf>[1] = {}) {
  const payloads = linesOf(stream, scripts).flatMap((line) => {
    const said: unknown = JSON.parse(line);
    return EventPayload.safeParse(withinDepth(said)).data ?? [];
  });
  return runOf([start, ...payloads], run);
}

/**
 * Returns events of one message, for comparison. The message is sent in as many parts as there are given events, and
 * all parts have the same length.
 */
export function benignRun(events: readonly StreamEvent[]): StreamEvent[] {
  return runOf([
    start,
    { type: 'item_start', itemId: 'i', itemType: 'message' },
    ...events.map(({ payload }): EventPayload => {
      const { length } = JSON.stringify(payload);
      return { type: 'item_delta', itemId: 'i', deltaContent: 'word '.repeat(length / 5) };
    }),
  ]);
}
