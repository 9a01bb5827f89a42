/**
 * Arbitrary valid runs. Items of every kind are interleaved, and end in every way. Invariants 1 to 3 hold in each run.
 */
import fc from 'fast-check';
import type { EventPayload, StreamEvent } from '../events.ts';
import { runOf } from './run-of.ts';
import { itemTracks } from './item-tracks.ts';

/** Arbitrary whole runs, from `response_start` to the terminal event. */
export function eventScripts(): fc.Arbitrary<StreamEvent[]> {
  return fc
    .record({
      tracks: fc.array(itemTracks, { maxLength: 7 }),
      turns: fc.array(fc.nat({ max: 99 }), { maxLength: 80 }),
      terminal,
    })
    .map(({ tracks, turns, terminal: end }) => {
      const named = tracks.map((track, index) => track(`item-${index}`));
      return runOf([start, ...interleave(named, turns), end]);
    });
}

const start: EventPayload = {
  type: 'response_start',
  modelId: 'model-1',
  providerId: 'provider-1',
  trigger: 'user',
};

const usage = { inputTokens: 3, outputTokens: 5 };
const error = { code: 'RATE_LIMIT', message: 'Too many requests.' };

const terminal = fc.constantFrom<EventPayload[]>(
  { type: 'response_done', status: 'completed', finishReason: 'end_turn', usage },
  { type: 'response_done', status: 'cancelled' },
  { type: 'response_done', status: 'error', error },
  { type: 'response_done', status: 'error', finishReason: 'max_tokens' },
  { type: 'response_error', error, usage },
);

/**
 * Interleaves the tracks. The order within each track does not change; `turns` selects from which track the next event
 * is taken.
 */
function interleave(tracks: EventPayload[][], turns: number[]): EventPayload[] {
  const rest = tracks.map((track) => [...track]);
  const merged: EventPayload[] = [];
  for (let step = 0; rest.some((track) => track.length > 0); step += 1) {
    const waiting = rest.filter((track) => track.length > 0);
    const next = waiting[(turns[step] ?? step) % waiting.length]?.shift();
    if (next) merged.push(next);
  }
  return merged;
}
