/**
 * Makes events for a finished run whose own events are no longer stored, so that the run can be replayed. A run
 * contains the times at which its items began and ended, but not the times at which their texts grew. Therefore the
 * texts grow evenly.
 */
import { type EventPayload, stampEvent, type StreamEvent } from '../events.ts';
import { itemText, withText } from '../folds/item-text.ts';
import type { OutputItem } from '../items.ts';
import type { Response } from '../response.ts';
import { itemStart, withoutUndefined } from '../folds/start-item.ts';

/** An item gets one piece of text for each PIECE_MS (ms) of its time, but at most PIECES_MAX pieces. */
const pieceMs = 100;
const piecesMax = 200;

interface Timed {
  at: number;
  payload: EventPayload;
}

/** Returns events that fold to the same run, except for its `lastSeq` and for items that never ended. */
export function rebuildEvents(run: Response): StreamEvent[] {
  const { id: runId, sessionId, turnId, createdAt, updatedAt } = run;
  let begun = createdAt;
  const items = run.outputItems.flatMap((item) => {
    // Items begin in their order, even if their times differ.
    begun = Math.max(begun, timeOf(item.startedAt, begun));
    return itemEvents(item, begun, Math.max(begun, timeOf(item.endedAt, updatedAt)));
  });
  const timed: Timed[] = [
    { at: createdAt, payload: responseStart(run) },
    ...items.toSorted((a, b) => a.at - b.at),
    ...responseEnd(run).map((payload) => ({ at: Math.max(updatedAt, begun), payload })),
  ];
  const envelope = { sessionId, runId, traceContext: run.traceContext ?? { traceparent: '' } };
  return timed.map(({ at, payload }, seq) =>
    stampEvent({ turnId, timestamp: new Date(at).toISOString(), payload }, envelope, seq),
  );
}

function timeOf(iso: string | undefined, otherwise: number): number {
  return iso === undefined ? otherwise : Date.parse(iso);
}

function responseStart({
  modelId,
  providerId,
  agentId,
  trigger,
  parentSpanId,
}: Response): EventPayload {
  return withoutUndefined({
    type: 'response_start',
    modelId,
    providerId,
    agentId,
    trigger,
    parentSpanId,
  });
}

function responseEnd({ status, usage, error, finishReason }: Response): EventPayload[] {
  if (status === 'in_progress' || status === 'queued') return [];
  const used = usage && { usage };
  if (status === 'error' && error && finishReason === null) {
    return [{ type: 'response_error', error, ...used }];
  }
  const ended = { complete: 'completed', aborted: 'cancelled', error: 'error' } as const;
  const reason = finishReason !== null && { finishReason };
  return [
    { type: 'response_done', status: ended[status], ...reason, ...(error && { error }), ...used },
  ];
}

/** Returns the events of an item: its start, the pieces of its text, and its end. */
function itemEvents(item: OutputItem, from: number, to: number): Timed[] {
  const pieces = piecesOf(itemText(item), to - from);
  const grown = pieces.map((deltaContent, index): Timed => ({
    at: from + Math.round(((to - from) * (index + 1)) / (pieces.length + 1)),
    payload: { type: 'item_delta', itemId: item.id, deltaContent },
  }));
  const origin = item.type === 'reasoning' ? item.origin : undefined;
  const start = { at: from, payload: { origin, ...itemStart(withText(item, '')) } };
  if (item.endedAt === undefined) return [start, ...grown];
  return [
    start,
    ...grown,
    { at: to, payload: { type: 'item_done', itemId: item.id, finalItem: withoutTimes(item) } },
  ];
}

/** Returns the item without its times, because the fold sets them. */
function withoutTimes(item: OutputItem): OutputItem {
  const { startedAt: _, endedAt: __, ...rest } = item;
  return rest;
}

/** Cuts the text into pieces. Each piece ends after a word, so that no character is divided. */
function piecesOf(text: string, ms: number): string[] {
  const ends = Array.from(text.matchAll(/\S+/g), ({ index, 0: word }) => index + word.length);
  // The last piece includes the white space at the end; a text without words is one piece.
  if (text !== '') ends.splice(-1, 1, text.length);
  const count = Math.max(1, Math.min(Math.floor(ms / pieceMs), piecesMax, ends.length));
  const endOf = (piece: number): number => ends[Math.floor((piece * ends.length) / count) - 1] ?? 0;
  return Array.from({ length: count }, (_, index) =>
    text.slice(endOf(index), endOf(index + 1)),
  ).filter((piece) => piece !== '');
}
