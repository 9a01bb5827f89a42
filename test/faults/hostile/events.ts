/** Hostile streams as canonical events: of the right types, with unexpected contents. */
import { EventPayload, type StreamEvent, withinDepth } from '@liminal/protocol';
import fc from 'fast-check';
import { eventScripts } from '../../../packages/protocol/src/testing/event-scripts.ts';
import { runOf } from '../../../packages/protocol/src/testing/run-of.ts';
import { type HostileStream, linesOf } from './stream.ts';

/** Fixed runs from which the streams are made. */
const scripts = fc
  .sample(eventScripts(), { seed: 1, numRuns: 60 })
  .map((events) => events.map(({ payload }) => payload).slice(1));

const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };

/**
 * A run that begins like every run, and continues with hostile events; invalid events are left out, and nesting is
 * cut as a provider cuts it.
 */
export function hostileRun(stream: HostileStream, run: Parameters<typeof runOf>[1] = {}) {
  const payloads = linesOf(stream, scripts).flatMap((line) => {
    const said: unknown = JSON.parse(line);
    return EventPayload.safeParse(withinDepth(said)).data ?? [];
  });
  return runOf([start, ...payloads], run);
}

/** Events of one message that is sent in as many pieces of the same length as the given events, for comparison. */
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
