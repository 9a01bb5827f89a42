import type { StreamEvent } from '@liminal/protocol';
import type { RunProgress } from '../../log/append-rules.ts';
import type { EventRow, RunConstants } from '../../log/event-rows.ts';

/** An entry of a stream as Redis gives it: its id, and names and values in turn. */
export type StreamEntry = [id: string, fields: string[]];

/** Where a stream's reader stands that has all up to this `seq`. The first event's id is `0-1`, since `0-0` is none. */
export function idOf(seq: number): string {
  return `0-${seq + 1}`;
}

/** The row in an entry; undefined for the mark that `settle.lua` leaves in a run that had not ended. */
export function rowOf([id, fields]: StreamEntry): EventRow | undefined {
  const [name, type, , timestamp = '', , payload = ''] = fields;
  if (name !== 'type') return undefined;
  const seq = Number(id.slice('0-'.length)) - 1;
  return { seq, type: type as StreamEvent['type'], timestamp, payload };
}

/** The constants that a run's first entry brings with it. */
export function constantsIn([, fields]: StreamEntry): RunConstants | undefined {
  const [name, constants] = fields.slice(6);
  return name === 'run' && constants ? (JSON.parse(constants) as RunConstants) : undefined;
}

/** The constants as the one text that stands for them. */
export function encodeConstants({ sessionId, turnId, traceContext }: RunConstants): string {
  const { traceparent, tracestate } = traceContext;
  return JSON.stringify({ sessionId, turnId, traceContext: { traceparent, tracestate } });
}

/** The answer of `progress.lua`; undefined for a run that has no events, or was settled a while ago. */
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
