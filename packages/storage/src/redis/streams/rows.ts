import type { StreamEvent } from '@liminal/protocol';
import type { RunProgress } from '../../log/append-rules.ts';
import { eventIdOf, type EventRow, RunConstants } from '../../log/event-rows.ts';
import { readAs } from '../../store/stored-json.ts';

/** An entry of a Redis stream: its id, and its field names and values alternately. */
export type StreamEntry = [id: string, fields: string[]];

/** Returns the entry id of a `seq`. The first event's id is `0-1`, since `0-0` is not allowed. */
export function entryIdOf(seq: number): string {
  return `0-${seq + 1}`;
}

/**
 * Returns the row of an entry. Returns undefined for an entry of another program, and for the entry with which
 * `settle.lua` marks that it closed a run that had not ended.
 */
export function eventRowOf([id, fields]: StreamEntry): EventRow | undefined {
  const [name, type, , timestamp = '', , payload = ''] = fields;
  if (name !== 'type' || !id.startsWith('0-')) return undefined;
  const seq = Number(id.slice('0-'.length)) - 1;
  return { seq, type: type as StreamEvent['type'], timestamp, payload };
}

/**
 * Returns the fields of an entry. An entry contains the whole canonical event, with payload and trace context as JSON.
 * Every entry has the same names in the same order, because Redis then stores the names once for many entries.
 * `append.lua` must write the same fields.
 */
export function fieldsOf(runId: string, run: RunConstants, row: EventRow): (string | number)[] {
  const { seq, type, timestamp } = row;
  const [sessionId, turnId, traceContext] = valuesOf(run);
  const event = ['type', type, 'timestamp', timestamp, 'payload', wirePayload(row)];
  const itself = ['eventId', eventIdOf(runId, seq), 'seq', seq, 'runId', runId];
  const whose = ['sessionId', sessionId, 'turnId', turnId, 'traceContext', traceContext];
  return [...event, ...itself, ...whose];
}

/** The run's constants in each entry: session, turn, and trace context as JSON. */
export function valuesOf(run: RunConstants): [string, string, string] {
  const { traceparent, tracestate } = run.traceContext;
  return [run.sessionId, run.turnId, JSON.stringify({ traceparent, tracestate })];
}

/** Returns the payload with its type. */
export function wirePayload({ type, payload }: EventRow): string {
  const rest = payload === '{}' ? '}' : `,${payload.slice(1)}`;
  return `{"type":"${type}"${rest}`;
}

/**
 * The constants in an entry, if they can be parsed. The previous version wrote the constants only into a run's first
 * entry, in the field `run`.
 */
export function constantsIn([, fields]: StreamEntry): RunConstants | undefined {
  const value = (name: string): string | undefined => {
    const at = fields.findIndex((field, index) => index % 2 === 0 && field === name);
    return at < 0 ? undefined : fields[at + 1];
  };
  const [run, sessionId, turnId] = [value('run'), value('sessionId'), value('turnId')];
  const traceContext = value('traceContext');
  if (sessionId !== undefined && turnId !== undefined && traceContext !== undefined) {
    const read = readAs(RunConstants.shape.traceContext, traceContext);
    return read && { sessionId, turnId, traceContext: read };
  }
  return run === undefined ? undefined : readAs(RunConstants, run);
}

/** Returns the constants in a fixed form, so that Redis can compare them as text. */
export function encodeConstants({ sessionId, turnId, traceContext }: RunConstants): string {
  const { traceparent, tracestate } = traceContext;
  return JSON.stringify({ sessionId, turnId, traceContext: { traceparent, tracestate } });
}

/**
 * Returns the progress from the answer of `progress.lua`. Returns undefined for a run without events, a run that was
 * settled a while ago, and a run whose constants are damaged.
 */
export function progressOf(reply: unknown): RunProgress | undefined {
  if (reply === null) return undefined;
  const [text, lastSeq, ended, settled] = reply as [string, number, string, string];
  const constants = readAs(RunConstants, text);
  return constants && { constants, lastSeq, ended: ended === '1', settled: settled === '1' };
}
