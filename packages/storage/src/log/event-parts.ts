/**
 * The stored form of archived events: each part contains several events as JSON, and the fields that all events of the
 * run share.
 */
import type { StreamEvent } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../errors.ts';
import { readAs } from '../store/stored-json.ts';
import { decodeEvent, encodeEvents, type EventRow, RunConstants } from './event-rows.ts';

/** The most events, and the most characters of events, in one part. A larger event is a part of its own. */
const partEvents = 1_000;
const partSize = 1024 * 1024;

export interface EventPart {
  sessionId: string;
  /** `seq` of the part's first event. */
  fromSeq: number;
  /** The events as JSON. */
  events: string;
}

const PartContent = z.object({
  constants: RunConstants,
  rows: z.array(z.tuple([z.number(), z.string(), z.string(), z.string()])),
});

/**
 * Returns the parts of a run's events. Throws StorageError `STORE_WRITE_FAILED` for values that cannot be written as
 * JSON.
 */
export function encodeEventParts(runId: string, events: readonly StreamEvent[]): EventPart[] {
  const [first] = events;
  if (!first) return [];
  const { sessionId, turnId, traceContext } = first;
  const constants = { sessionId, turnId, traceContext };
  return splitRows(encodeRows(runId, events)).map((part) => {
    const rows = part.map(({ seq, timestamp, type, payload }) => [seq, timestamp, type, payload]);
    const fromSeq = part[0]?.seq ?? 0;
    return { sessionId, fromSeq, events: JSON.stringify({ constants, rows }) };
  });
}

/**
 * Returns the events of a run's parts, each event once. `parts` are in the order of their first events. A damaged part,
 * whose JSON cannot be read, is left out.
 */
export function decodeEventParts(
  runId: string,
  parts: readonly Pick<EventPart, 'events'>[],
): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const part of parts) {
    const content = readAs(PartContent, part.events);
    for (const [seq, timestamp, type, payload] of content?.rows ?? []) {
      if (seq <= (events.at(-1)?.seq ?? -1) || !content) continue;
      const row = { seq, timestamp, type, payload } as EventRow;
      events.push(decodeEvent(runId, content.constants, row));
    }
  }
  return events;
}

function encodeRows(runId: string, events: readonly StreamEvent[]): EventRow[] {
  try {
    return encodeEvents(runId, events);
  } catch (cause) {
    throw errors.STORE_WRITE_FAILED.events(runId, { cause });
  }
}

function splitRows(rows: readonly EventRow[]): EventRow[][] {
  const parts: EventRow[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    size += row.payload.length;
    if (size > partSize || (parts.at(-1)?.length ?? 0) >= partEvents) {
      parts.push([]);
      size = row.payload.length;
    }
    parts.at(-1)?.push(row);
  }
  return parts;
}
