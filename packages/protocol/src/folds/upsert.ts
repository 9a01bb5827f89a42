/** The upsert fold: from a run's events to the outputs that readers render (seed 000, section 5; seed 003). */
import type { EventPayload, StreamEvent } from '../events.ts';
import type { ErrorObject } from '../items.ts';
import type { FoldOutput } from '../upserts.ts';
import { emitOpen } from './emit.ts';
import { growView } from './grow-view.ts';
import { itemText } from './item-text.ts';
import { resetPace } from './pace.ts';
import { PersistentMap } from './persistent-map.ts';
import {
  changedBy,
  emptyResponse,
  foldResponse,
  hasEnded,
  type ResponseState,
} from './response.ts';
import { reviseViews } from './revise-views.ts';
import { withoutUndefined } from './start-item.ts';
import { type UpsertFoldConfig, upsertFoldConfig } from './upsert-config.ts';
import {
  type FoldResult,
  type OpenView,
  type FoldStep,
  type UpsertFoldState,
  withView,
} from './upsert-state.ts';

/** Returns the state before the first event. Throws LiminalError `INVALID_UPSERT_CONFIG`. */
export function startUpsertFold(config: Partial<UpsertFoldConfig> = {}): UpsertFoldState {
  return {
    config: upsertFoldConfig(config),
    response: emptyResponse(),
    open: PersistentMap.empty(),
    flushes: PersistentMap.empty(),
  };
}

/**
 * Returns the state after one event, and the outputs. `now` is in ms, on any clock that is never adjusted (`onEpoch`).
 * A duplicate event, an older event, and any event after the terminal event change nothing and emit nothing. `response`
 * is the Response after the event: callers with folds for several kinds of readers compute it once.
 */
export function foldUpsert(
  state: UpsertFoldState,
  event: StreamEvent,
  now: number,
  response: ResponseState = foldResponse(state.response, event),
): FoldResult {
  const before = state.response;
  const { head } = response;
  if (response === before || !head) return { state, outputs: [] };
  const { epoch = 0 } = state;
  const { timestamp } = event;
  const step = { state: { ...state, response }, before, head, timestamp, now, epoch };
  const touched =
    response.items !== before.items || response.open !== before.open || hasEnded(response);
  if (touched) return foldItems(step, event.payload);
  const starts = response.started && !before.started;
  return { state: step.state, outputs: starts ? [turnStarted(step)] : [] };
}

/**
 * Returns the state for later steps. `epoch` is the time, in milliseconds since the epoch, at which the clock of those
 * steps was 0. If the computer's time is adjusted during a turn, the difference between the two clocks changes.
 */
export const onEpoch = (state: UpsertFoldState, epoch: number): UpsertFoldState => ({
  ...state,
  epoch,
});

/**
 * Ends the turn for its readers without a terminal event: all open views end as errors with their buffered text
 * (TC-5.4a), and then the turn ends. Later events change nothing.
 */
export function destroyUpsertFold(
  state: UpsertFoldState,
  now: number,
  error: ErrorObject,
): FoldResult {
  if (!state.response.head || hasEnded(state.response)) return { state, outputs: [] };
  const head = { ...state.response.head, status: 'error' as const, error };
  const ended = { ...state, response: { ...state.response, head } };
  const { epoch = 0 } = state;
  const timestamp = new Date(epoch + now).toISOString();
  return endTurn({ state: ended, before: state.response, head, timestamp, now, epoch });
}

/**
 * Returns the time at which `flushIdle` must be called next, on the clock of `now`; undefined if nothing is buffered.
 */
export function nextFlushAt(state: UpsertFoldState): number | undefined {
  const times = state.flushes.values();
  return times.length > 0 ? times.reduce((soonest, time) => Math.min(soonest, time)) : undefined;
}

/** Emits text that has been buffered for `batchTimeoutMs` since its last delta (TC-5.4b). */
export function flushIdle(state: UpsertFoldState, now: number): FoldResult {
  if ((nextFlushAt(state) ?? Infinity) > now) return { state, outputs: [] };
  const waiting = state.flushes.keys().flatMap((id) => state.open.get(id) ?? []);
  return show(
    state,
    waiting.filter((known) => isDue(known, now)),
    now,
  );
}

/** Emits all buffered text, for readers whose fold ends here while the turn continues. */
export function flushAll(state: UpsertFoldState, now: number): FoldResult {
  const buffered = state.flushes.keys().flatMap((id) => state.open.get(id) ?? []);
  return show(state, buffered, now);
}

function show(state: UpsertFoldState, buffered: readonly OpenView[], now: number): FoldResult {
  const { head } = state.response;
  if (!head) return { state, outputs: [] };
  const { epoch = 0 } = state;
  const outputs = buffered.map(({ view, emitted, changedAt }) =>
    emitOpen({ head, timestamp: changedAt, now, epoch }, view, emitted ? 'update' : 'create'),
  );
  return { state: buffered.map(flushed).reduce(withView, state), outputs };
}

function isDue({ pace }: OpenView, now: number): boolean {
  return pace.flushAt !== undefined && pace.flushAt <= now;
}

function flushed(known: OpenView): OpenView {
  return {
    ...known,
    emitted: true,
    pace: resetPace(known.pace, 0, itemText(known.view.item).length),
  };
}

function foldItems(step: FoldStep, payload: EventPayload): FoldResult {
  if (payload.type === 'item_delta') return growView(step, payload);
  if (hasEnded(step.state.response)) return endTurn(step);
  return reviseViews(step, changedBy(payload));
}

function endTurn(step: FoldStep): FoldResult {
  const { state, outputs } = reviseViews(step, step.state.open.keys());
  return { state, outputs: [...outputs, turnEnded(step)] };
}

function turnStarted({ head }: FoldStep): FoldOutput {
  const { turnId, sessionId, modelId, providerId, trigger } = head;
  const event = { type: 'turn_started', turnId, sessionId, modelId, providerId } as const;
  return { kind: 'turn', event: trigger === 'agent' ? { ...event, trigger } : event };
}

/** Returns the output for a turn's end. A failed turn is a `turn_error`, never a `turn_complete` (TC-5.4f). */
function turnEnded({ head }: FoldStep): FoldOutput {
  const { turnId, sessionId, status, error, usage, finishReason, rewoundTo } = head;
  if (status === 'error') {
    const errorCode = error?.code ?? 'TURN_FAILED';
    const errorMessage = error?.message ?? 'The turn failed.';
    return {
      kind: 'turn',
      event: { type: 'turn_error', turnId, sessionId, errorCode, errorMessage },
    };
  }
  const outcome = status === 'aborted' ? 'cancelled' : 'completed';
  const why = { finishReason: finishReason ?? undefined, usage, rewoundTo };
  const event = { type: 'turn_complete', turnId, sessionId, status: outcome, ...why } as const;
  return { kind: 'turn', event: withoutUndefined(event) };
}
