import type { StreamEvent } from '@liminal/protocol';
import type { RunProgress } from '../../log/append-rules.ts';
import type { EventRow, RunConstants } from '../../log/event-rows.ts';

/** An entry of a Redis stream: its id, and its names and values alternately. */
export type StreamEntry = [id: string, fields: string[]];

/** The entry id of a `seq`. The first event's id is `0-1`, since `0-0` is not allowed. */
export function idOf(seq: number): string {
  return `0-${seq + 1}`;
}

/** The row of an entry; undefined for the mark that `settle.lua` adds to a run that had not ended. */
export function rowOf([id, fields]: StreamEntry): EventRow | undefined {
  const [name, type, , timestamp = '', , payload = ''] = fields;
  if (name !== 'type') return undefined;
  const seq = Number(id.slice('0-'.length)) - 1;
  return { seq, type: type as StreamEvent['type'], timestamp, payload };
}

/** The constants in a run's first entry. */
export function constantsIn([, fields]: StreamEntry): RunConstants | undefined {
  const [name, constants] = fields.slice(6);
  return name === 'run' && constants ? (JSON.parse(constants) as RunConstants) : undefined;
}

/** The constants in a fixed form, so that Redis can compare them as text. */
export function encodeConstants({ sessionId, turnId, traceContext }: RunConstants): string {
  const { traceparent, tracestate } = traceContext;
  return JSON.stringify({ sessionId, turnId, traceContext: { traceparent, tracestate } });
}

/** The answer of `progress.lua`; undefined for a run without events, or one that was settled a while ago. */
export function progressOf(reply: unknown): RunProgress | undefined {
  if (reply === null) return undefined;
  const [constants, lastSeq, ended, settled] = reply as [string, number, string, string];
  return {
    constants: JSON.parse(constants) as RunConstants,
    lastSeq,
    ended: ended === '1',
    settled: settled === '1',
  };
}
