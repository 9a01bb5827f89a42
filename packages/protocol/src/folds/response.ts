/** The response fold: from a run's events to the Response that history stores (seed 001, invariants 4 and 5). */
import type { EventPayload, StreamEvent } from '../events.ts';
import type { ErrorObject, ItemPatch, OutputItem } from '../items.ts';
import type { Response } from '../response.ts';
import { itemText, withText } from './item-text.ts';
import {
  orderedIds,
  type ItemList,
  pairableIds,
  noItems,
  putItem,
  removeItem,
} from './item-list.ts';
import { isAnswer, pairAnswers } from './pair-answers.ts';
import { PersistentMap } from './persistent-map.ts';
import { readTraceparent } from '../trace-context.ts';
import { patchItem, startItem, withoutUndefined } from './start-item.ts';

/** An open item. A delta changes only the `text` of this object, not the list of items. */
interface OpenItem {
  /** The item without its text. */
  readonly item: OutputItem;
  readonly text: string;
}

export interface ResponseState {
  /** `seq` of the last event folded in; -1 before the first. */
  readonly lastSeq: number;
  /** Milliseconds since the epoch: the last event's timestamp. */
  readonly updatedAt: number;
  /** Whether `response_start` was folded in. */
  readonly started: boolean;
  /** The Response without its items; undefined before the first event. */
  readonly head: Omit<Response, 'outputItems' | 'lastSeq' | 'updatedAt'> | undefined;
  /** All items. For an open item, only the order, the type and the ids for pairing are valid in this list. */
  readonly items: ItemList;
  /** Open items in the order of their start. */
  readonly open: PersistentMap<OpenItem>;
}

const empty: ResponseState = {
  lastSeq: -1,
  updatedAt: 0,
  started: false,
  head: undefined,
  items: noItems,
  open: PersistentMap.empty(),
};

/** Always returns the same object, so that folds that begin together can share one Response. */
export function emptyResponse(): ResponseState {
  return empty;
}

/**
 * Returns the state after one event. Returns the same state for a duplicate or older event, and for any event after the
 * terminal event. Events about unknown or ended items change no item, with two exceptions. `item_done` and `item_error`
 * of an item that never started count as the whole item. `item_cancelled` also withdraws an ended item, but not a call
 * that has begun to get an answer, and not the answer of a call, because in both cases the tool has run. The cost does
 * not depend on the number of items. The old state does not change, and can be used again.
 */
export function foldResponse(state: ResponseState, event: StreamEvent): ResponseState {
  if (event.seq <= state.lastSeq || hasEnded(state)) return state;
  const time = Date.parse(event.timestamp);
  const next = {
    ...state,
    lastSeq: event.seq,
    updatedAt: time,
    head: state.head ?? newHead(event, time),
  };
  // Nearly all events are deltas.
  if (event.payload.type === 'item_delta') return growItem(next, event.payload);
  return applyPayload(next, next.head, event.payload, event.timestamp);
}

/** Returns the Response so far; undefined before `response_start`. Takes time O(items · log items). */
export function toResponse(state: ResponseState): Response | undefined {
  if (!state.started || !state.head) return undefined;
  return {
    ...state.head,
    updatedAt: state.updatedAt,
    outputItems: state.items.byId.values().map((item) => openItem(state, item.id) ?? item),
    lastSeq: state.lastSeq,
  };
}

/** The items with these ids, without unknown ids, in order of start; open items include their text so far. */
export function currentItems(state: ResponseState, ids: Iterable<string>): OutputItem[] {
  return orderedIds(state.items, ids)
    .map((id) => openItem(state, id) ?? state.items.byId.get(id))
    .filter((item) => item !== undefined);
}

/** Returns the ids of all items that an event can change. */
export function changedBy(payload: EventPayload): string[] {
  if (!('itemId' in payload)) return [];
  const ends =
    payload.type === 'script_execution_done' || payload.type === 'script_execution_error';
  return ends ? [payload.itemId, outputIdOf(payload.itemId)] : [payload.itemId];
}

/** An open item with its text so far; undefined if the item is unknown or has ended. */
export function openItem(state: ResponseState, itemId: string): OutputItem | undefined {
  const open = state.open.get(itemId);
  return open && withText(open.item, open.text);
}

/** Returns whether the terminal event was folded in. */
export function hasEnded(state: ResponseState): boolean {
  return state.head !== undefined && state.head.status !== 'in_progress';
}

/**
 * The length in characters from which a text no longer grows: the text's JSON, in which one character may need six,
 * must stay below the longest possible string. Adapters cut agents' texts at a much smaller length.
 */
const maxFoldedText = 64 * 1024 * 1024;

type Head = NonNullable<ResponseState['head']>;

function newHead(event: StreamEvent, createdAt: number): Head {
  return {
    id: event.runId,
    turnId: event.turnId,
    sessionId: event.sessionId,
    modelId: '',
    providerId: '',
    createdAt,
    status: 'in_progress',
    finishReason: null,
    ...(readTraceparent(event.traceContext.traceparent) && { traceContext: event.traceContext }),
  };
}

function applyPayload(
  state: ResponseState,
  head: Head,
  payload: EventPayload,
  at: string,
): ResponseState {
  switch (payload.type) {
    case 'response_start':
      return state.started ? state : startResponse(state, head, payload);
    case 'item_start':
      return addOpen(state, startItem(payload, at));
    case 'item_delta':
      return growItem(state, payload);
    case 'item_done':
      return endItem(state, finishedItem(state, payload.itemId, payload.finalItem, at));
    case 'item_error':
      return endItem(state, failedItem(state, payload.itemId, payload.error, at));
    case 'item_cancelled':
      return withdrawItem(state, payload.itemId);
    case 'script_execution_start':
      return addOpen(
        state,
        startItem({ ...payload, type: 'item_start', itemType: 'script_execution' }, at),
      );
    case 'script_execution_done':
      return endScript(state, payload.itemId, payload, at);
    case 'script_execution_error':
      return endScript(state, payload.itemId, { ...payload, result: '', success: false }, at);
    case 'usage_update':
      return { ...state, head: { ...head, usage: { ...head.usage, ...payload.usage } } };
    case 'heartbeat':
    case 'turn_aborted_by_user':
      return state;
    case 'response_done':
    case 'response_error':
      return { ...state, head: endedHead(head, payload) };
  }
}

function startResponse(
  state: ResponseState,
  head: Head,
  start: Extract<EventPayload, { type: 'response_start' }>,
): ResponseState {
  const { modelId, providerId, agentId, trigger, parentSpanId } = start;
  const named = withoutUndefined({ modelId, providerId, agentId, trigger, parentSpanId });
  return { ...state, started: true, head: { ...head, ...named } };
}

function addOpen(state: ResponseState, item: OutputItem): ResponseState {
  if (state.items.byId.has(item.id)) return state;
  const open = state.open.set(item.id, { item, text: itemText(item) });
  return { ...state, items: putItem(state.items, item), open };
}

function growItem(
  state: ResponseState,
  { itemId, deltaContent, patch }: Extract<EventPayload, { type: 'item_delta' }>,
): ResponseState {
  const known = state.open.get(itemId);
  if (!known) return state;
  const item = patch ? patchItem(known.item, patch) : known.item;
  const before = patch === undefined ? known.text : textBefore(known, patch);
  const text = before.length > maxFoldedText ? before : before + deltaContent;
  return { ...state, open: state.open.set(itemId, { item, text }) };
}

/** Returns the text to which a delta is appended. If a patch has replaced a call's arguments, this is the new text. */
function textBefore({ item, text }: OpenItem, patch: ItemPatch): string {
  return item.type === 'function_call' ? (patch.arguments ?? text) : text;
}

/** The final item. Fields that the event lacks are taken from the open item. */
function finishedItem(
  state: ResponseState,
  id: string,
  finalItem: OutputItem,
  endedAt: string,
): OutputItem {
  const known = state.open.get(id)?.item;
  const { startedAt = endedAt, parentCallId, correlationId } = known ?? {};
  const openFields = known?.type === finalItem.type ? known : {};
  const base = withoutUndefined({ parentCallId, correlationId });
  return {
    ...base,
    ...openFields,
    ...withoutUndefined(finalItem),
    id,
    startedAt,
    endedAt,
  };
}

function failedItem(
  state: ResponseState,
  id: string,
  error: ErrorObject,
  endedAt: string,
): OutputItem {
  const known = openItem(state, id);
  if (known) return { ...known, error, endedAt };
  const { code, message } = error;
  const base = { id, startedAt: endedAt, endedAt, error };
  return { ...base, type: 'error', code, message, origin: 'provider' };
}

function endItem(state: ResponseState, item: OutputItem): ResponseState {
  const open = state.open.delete(item.id);
  if (open === state.open && state.items.byId.has(item.id)) return state;
  return { ...state, items: putItem(state.items, item), open };
}

function withdrawItem(state: ResponseState, itemId: string): ResponseState {
  const item = state.items.byId.get(itemId);
  if (!item || (isAnswer(item) && !state.open.has(itemId)) || isAnswered(state, itemId)) {
    return state;
  }
  return { ...state, items: removeItem(state.items, itemId), open: state.open.delete(itemId) };
}

function isAnswered(state: ResponseState, itemId: string): boolean {
  const pairs = pairAnswers(currentItems(state, pairableIds(state.items, itemId)));
  return pairs.values().some((call) => call === itemId);
}

function outputIdOf(scriptId: string): string {
  return `${scriptId}:output`;
}

function endScript(
  state: ResponseState,
  scriptId: string,
  { result, success, error }: { result: string; success: boolean; error?: ErrorObject },
  endedAt: string,
): ResponseState {
  const script = openItem(state, scriptId);
  const ended = script ? endItem(state, { ...script, endedAt }) : state;
  const output: OutputItem = {
    id: outputIdOf(scriptId),
    type: 'script_execution_output',
    scriptId,
    result,
    success,
    origin: 'script_harness',
    startedAt: endedAt,
    endedAt,
    ...(error && { error }),
  };
  return endItem(ended, output);
}

const terminalStatus = { completed: 'complete', cancelled: 'aborted', error: 'error' } as const;

function endedHead(
  head: Head,
  payload: Extract<EventPayload, { type: 'response_done' | 'response_error' }>,
): Head {
  const usage = payload.usage ? { usage: { ...head.usage, ...payload.usage } } : {};
  if (payload.type === 'response_error') {
    return { ...head, ...usage, status: 'error', error: payload.error };
  }
  const finishReason = payload.finishReason ?? null;
  const failed = payload.status === 'error' || payload.error !== undefined;
  return {
    ...head,
    ...usage,
    status: terminalStatus[payload.status],
    finishReason,
    ...(payload.status === 'completed' &&
      payload.rewoundTo !== undefined && { rewoundTo: payload.rewoundTo }),
    ...(failed && { error: payload.error ?? errorFromFinishReason(finishReason) }),
  };
}

/** Returns the error of a failed turn whose source reported no error. */
function errorFromFinishReason(finishReason: string | null): ErrorObject {
  if (!finishReason) {
    return { code: 'TURN_FAILED', message: 'The turn failed without a reason from its source.' };
  }
  const code = finishReason.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase();
  return { code, message: `The turn failed with finish reason "${finishReason}".` };
}
