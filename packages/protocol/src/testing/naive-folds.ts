/** Slow, simple versions of the folds, written independently, to check the real folds. */
import type { EventPayload, StreamEvent } from '../events.ts';
import type { OutputItem } from '../items.ts';

interface Naive {
  id: string;
  type: string;
  text: string;
  callId?: string | undefined;
  origin?: string | undefined;
  blocks?: unknown;
  ended: boolean;
  errorCode?: string | undefined;
  success?: boolean;
}

/** The final state of one shown item, as a reader has it. */
export interface NaiveView {
  type: string;
  status: string;
  text: string;
  errorCode?: string | undefined;
}

interface NaiveTurn {
  status: string;
  items: Naive[];
}

/** Replays a whole run on mutable records, one item after another. */
export function naiveTurn(events: readonly StreamEvent[]): NaiveTurn {
  const turn: NaiveTurn = { status: 'in_progress', items: [] };
  const seen = new Set<number>();
  for (const { seq, payload } of events) {
    if (seen.has(seq) || turn.status !== 'in_progress') continue;
    seen.add(seq);
    replay(turn, payload);
  }
  return turn;
}

function replay(turn: NaiveTurn, payload: EventPayload): void {
  if (payload.type === 'response_error') turn.status = 'error';
  if (payload.type === 'response_done') turn.status = payload.status;
  if (!('itemId' in payload)) return;
  const { itemId } = payload;
  const known = turn.items.find(({ id }) => id === itemId);
  const isOpen = known !== undefined && !known.ended;
  if (payload.type === 'item_start' && !known) {
    const text = payload.arguments ?? payload.initialContent ?? '';
    const { itemType: type, callId = itemId, origin = 'agent' } = payload;
    turn.items.push({ id: itemId, type, text, callId, origin, ended: false });
  }
  if (payload.type === 'script_execution_start' && !known) {
    const { code: text } = payload;
    turn.items.push({ id: itemId, type: 'script_execution', text, callId: itemId, ended: false });
  }
  if (payload.type === 'item_delta' && isOpen) {
    if (known.type === 'function_call') known.text = payload.patch?.arguments ?? known.text;
    known.text += payload.deltaContent;
    known.blocks = payload.patch?.blocks ?? known.blocks;
  }
  if (payload.type === 'item_done' && !known?.ended) {
    if (!known) turn.items.push({ id: itemId, type: '', text: '', ended: false });
    const item = turn.items.find(({ id }) => id === itemId)!;
    Object.assign(item, { ...ofFinalItem(payload.finalItem), ended: true });
  }
  if (payload.type === 'item_error') {
    const { code: errorCode, message: text } = payload.error;
    if (isOpen) Object.assign(known, { ended: true, errorCode });
    if (!known) turn.items.push({ id: itemId, type: 'error', text, ended: true, errorCode });
  }
  if (payload.type === 'script_execution_done' || payload.type === 'script_execution_error') {
    if (known) known.ended = true;
    const success = payload.type === 'script_execution_done' && payload.success;
    turn.items.push({
      id: `${itemId}:output`,
      type: 'script_execution_output',
      callId: itemId,
      text: payload.type === 'script_execution_done' ? payload.result : '',
      success,
      ended: true,
      errorCode: payload.type === 'script_execution_error' ? payload.error.code : undefined,
    });
  }
  if (payload.type === 'item_cancelled' && known) {
    turn.items = turn.items.filter(({ id }) => id !== itemId);
  }
}

function ofFinalItem(item: OutputItem): Partial<Naive> {
  const fields: Record<string, unknown> = item;
  const text = ['content', 'arguments', 'output', 'code', 'result'].find((key) => key in fields);
  const isError = item.type === 'error';
  return {
    type: item.type,
    text: isError ? item.message : String(text ? fields[text] : ''),
    callId: 'callId' in item ? item.callId : undefined,
    ...('origin' in item && { origin: item.origin }),
    ...('success' in item && { success: item.success }),
    ...(isError && { errorCode: item.code }),
  };
}

/** Returns the final states of an ended turn, as readers have them, by the id of the shown item. */
export function naiveViews({ status, items }: NaiveTurn): Map<string, NaiveView> {
  const views = new Map<string, NaiveView>();
  const taken = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (!item.type.endsWith('_output')) continue;
    const call = items
      .slice(0, index)
      .filter(({ type }) => type === item.type.replace('_output', ''))
      .findLast((other) => {
        return other.callId === item.callId && !other.errorCode && !taken.has(other.id);
      });
    taken.add(item.id);
    if (call) taken.add(call.id);
    const id = call?.id ?? item.id;
    views.set(id, {
      type: 'tool_call',
      status: item.errorCode ? 'error' : 'complete',
      text: item.text,
      errorCode: item.errorCode,
    });
  }
  for (const item of items) {
    if (taken.has(item.id)) continue;
    const view = viewOf(item, status);
    views.set(item.id, view);
  }
  return views;
}

const upsertTypes: Record<string, string> = {
  reasoning: 'thinking',
  function_call: 'tool_call',
  script_execution: 'tool_call',
};

function viewOf(item: Naive, turnStatus: string): NaiveView {
  const type = upsertTypes[item.type] ?? item.type;
  const text = type === 'message' || type === 'thinking' ? item.text : '';
  const { errorCode } = item;
  if (errorCode) return { type, status: 'error', text, errorCode };
  const cutOff = type === 'tool_call' && turnStatus !== 'completed';
  return { type, status: cutOff ? 'error' : 'complete', text };
}
