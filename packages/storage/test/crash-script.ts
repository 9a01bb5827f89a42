/**
 * The data of a writer that will be killed. The data depends only on how far the writer came, so that the test can
 * check it.
 */
import type { OutputItem, Response, StreamEvent } from '@liminal/protocol';
import { delta, done, envelopeOf, eventsOf, start } from '../src/testing/runs.ts';

const batchesPerRun = 12;

export function runIdAt(index: number): string {
  return `run-${index}`;
}

export function indexOf(runId: string): number {
  return Number(runId.slice('run-'.length));
}

/** A run's batches: sizes between 1 and 40 events, some as large as several pages of the database. */
export function batchesOf(runId: string): StreamEvent[][] {
  const seed = Buffer.from(runId).reduce((sum, byte) => sum * 31 + byte, 7);
  const batches: StreamEvent[][] = [];
  let seq = 0;
  for (let at = 0; at < batchesPerRun; at += 1) {
    const size = 1 + ((seed + at * 17) % 40);
    const texts = Array.from({ length: size }, (_, i) =>
      `${runId}/${seq + i} `.repeat(1 + (i % 50)),
    );
    const payloads = texts.map((text) => delta(text));
    if (at === 0) payloads.unshift(start);
    if (at === batchesPerRun - 1) payloads.push(done);
    batches.push(eventsOf(runId, payloads, seq));
    seq += payloads.length;
  }
  return batches;
}

export function responseOf(runId: string): Response {
  const events = batchesOf(runId).flat();
  const outputItems = events.flatMap(({ payload, seq }): OutputItem[] =>
    payload.type === 'item_delta'
      ? [{ id: `item-${seq}`, type: 'message', origin: 'agent', content: payload.deltaContent }]
      : [],
  );
  return {
    id: runId,
    turnId: runId,
    sessionId: envelopeOf(runId).sessionId,
    modelId: 'model-1',
    providerId: 'demo',
    createdAt: 1,
    updatedAt: 2,
    status: 'complete',
    outputItems,
    finishReason: null,
    lastSeq: events.length - 1,
  };
}
