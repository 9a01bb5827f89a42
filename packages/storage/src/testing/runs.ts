import type { EventPayload, RunEnvelope, StreamEvent } from '@liminal/protocol';
import { stampEvent } from '@liminal/protocol';

export const start: EventPayload = {
  type: 'response_start',
  modelId: 'model-1',
  providerId: 'demo',
};
export const done: EventPayload = {
  type: 'response_done',
  status: 'completed',
  finishReason: null,
};

export function delta(deltaContent: string, itemId = 'item-1'): EventPayload {
  return { type: 'item_delta', itemId, deltaContent };
}

/** Returns the envelope of a run that is the first of its turn. */
export function envelopeOf(runId: string): RunEnvelope {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  return {
    runId,
    sessionId: `session-of-${runId}`,
    traceContext: { traceparent, tracestate: 'k=v' },
  };
}

/** Stamps payloads as a run's writer would, starting at a `seq`. */
export function eventsOf(runId: string, payloads: EventPayload[], firstSeq = 0): StreamEvent[] {
  return payloads.map((payload, offset) => {
    const seq = firstSeq + offset;
    const timestamp = new Date(1_700_000_000_000 + seq).toISOString();
    return stampEvent({ turnId: runId, timestamp, payload }, envelopeOf(runId), seq);
  });
}

/** Returns a whole run: start, one delta per text, done. */
export function wholeRun(runId: string, texts: string[]): StreamEvent[] {
  return eventsOf(runId, [start, ...texts.map((text) => delta(text)), done]);
}

/** All events that a follower yields until it ends by itself. */
export async function collect(followed: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  return Array.fromAsync(followed);
}
