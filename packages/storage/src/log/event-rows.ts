import { EventPayload, type StreamEvent } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../errors.ts';
import { isOf, parseObject } from '../store/stored-json.ts';

/** The fields that all events of a run share; they are stored once per run. */
export const RunConstants = z.object({
  sessionId: z.string(),
  turnId: z.string(),
  traceContext: z.object({ traceparent: z.string(), tracestate: z.string().optional() }),
});
export type RunConstants = z.infer<typeof RunConstants>;

/** The fields of each event that the run's constants do not contain. */
export interface EventRow {
  seq: number;
  timestamp: string;
  type: StreamEvent['type'];
  /** The payload as JSON, without its type. */
  payload: string;
}

function encodeEvent(event: StreamEvent): EventRow {
  const { type, ...payload } = event.payload;
  return { seq: event.seq, timestamp: event.timestamp, type, payload: JSON.stringify(payload) };
}

/** Returns the rows of an append. Throws StorageError `LOG_WRITE_FAILED` for a value that cannot be written as JSON. */
export function encodeEvents(runId: string, events: readonly StreamEvent[]): EventRow[] {
  try {
    return events.map(encodeEvent);
  } catch (cause) {
    throw errors.LOG_WRITE_FAILED.event(runId, String(cause), { cause });
  }
}

/**
 * Returns the event of a row. If the row is damaged, returns an error item instead; or, if the row contained the run's
 * end, an end of the run.
 */
export function decodeEvent(runId: string, run: RunConstants, row: EventRow): StreamEvent {
  const fields = parseObject(row.payload);
  const read: unknown = fields && { type: row.type, ...fields };
  const payload = isOf(EventPayload, read) ? read : damaged(row);
  return {
    eventId: eventIdOf(runId, row.seq),
    seq: row.seq,
    timestamp: Number.isNaN(Date.parse(row.timestamp)) ? unknownTime : row.timestamp,
    sessionId: run.sessionId,
    turnId: run.turnId,
    runId,
    traceContext: run.traceContext,
    type: payload.type,
    payload,
    // The row's type is the payload's type; TypeScript cannot infer this.
  } as StreamEvent;
}

const unknownTime = new Date(0).toISOString();

function damaged({ seq, type }: EventRow): EventPayload {
  const error = {
    code: 'LOG_DAMAGED',
    message: 'A part of this turn cannot be read: the log is damaged.',
  };
  if (type === 'response_start') return { type, modelId: 'unknown', providerId: 'unknown' };
  if (type === 'response_done' || type === 'response_error') {
    return { type: 'response_error', error };
  }
  const itemId = `damaged:${seq}`;
  const finalItem = { type: 'error', id: itemId, origin: 'system', ...error } as const;
  return { type: 'item_done', itemId, finalItem };
}

export function eventIdOf(runId: string, seq: number): string {
  return `${runId}:${seq}`;
}
