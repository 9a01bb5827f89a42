import { stampEvent, type EventPayload, type RunEnvelope, type StreamEvent } from '../events.ts';

const envelope: RunEnvelope & { turnId: string } = {
  sessionId: 'session-1',
  turnId: 'turn-1',
  runId: 'run-1',
  traceContext: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
};

/** Converts payloads to the events of one run, 10 ms apart, beginning at 2026-01-01T00:00:00.000Z. */
export function runOf(
  payloads: readonly EventPayload[],
  overrides: Partial<typeof envelope> = {},
): StreamEvent[] {
  const { turnId, ...run } = { ...envelope, ...overrides };
  return payloads.map((payload, seq) => {
    const timestamp = new Date(Date.UTC(2026, 0, 1) + seq * 10).toISOString();
    return stampEvent({ turnId, timestamp, payload }, run, seq);
  });
}
