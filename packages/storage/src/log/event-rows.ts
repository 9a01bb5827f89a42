import type { EventPayload, StreamEvent, TraceContext } from '@liminal/protocol';
import { StorageError } from '../errors.ts';

/** What all events of a run share; kept once per run. */
export interface RunConstants {
  sessionId: string;
  turnId: string;
  traceContext: TraceContext;
}

/** What is kept of each event beside its run's constants. */
export interface EventRow {
  seq: number;
  timestamp: string;
  type: StreamEvent['type'];
  /** The payload as JSON, without its type. */
  payload: string;
}

export function encodeEvent(event: StreamEvent): EventRow {
  const { type, ...payload } = event.payload;
  return { seq: event.seq, timestamp: event.timestamp, type, payload: JSON.stringify(payload) };
}

/** All rows of an append. Throws StorageError `LOG_WRITE_FAILED` for what JSON cannot hold. */
export function encodeEvents(runId: string, events: readonly StreamEvent[]): EventRow[] {
  try {
    return events.map(encodeEvent);
  } catch (cause) {
    const message = `An event of run ${runId} cannot be written as JSON: ${String(cause)}`;
    throw new StorageError('LOG_WRITE_FAILED', message, { cause });
  }
}

export function decodeEvent(runId: string, run: RunConstants, row: EventRow): StreamEvent {
  const payload = JSON.parse(row.payload) as Omit<EventPayload, 'type'>;
  return {
    eventId: eventIdOf(runId, row.seq),
    seq: row.seq,
    timestamp: row.timestamp,
    sessionId: run.sessionId,
    turnId: run.turnId,
    runId,
    traceContext: run.traceContext,
    type: row.type,
    payload: { type: row.type, ...payload },
    // A row is only ever made by encodeEvent, and parsing each again would cost more than reading it.
  } as StreamEvent;
}

export function eventIdOf(runId: string, seq: number): string {
  return `${runId}:${seq}`;
}
