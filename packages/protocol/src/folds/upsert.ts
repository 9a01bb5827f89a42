/** The upsert fold: a run's events in, what readers render out (seed 000, section 5; seed 003). */
import type { EventPayload, StreamEvent } from '../events.ts';
import type { ErrorObject } from '../items.ts';
import type { FoldOutput } from '../upserts.ts';
import { emitOpen } from './emit.ts';
import { growView } from './grow-view.ts';
import { resetPace } from './pace.ts';
import { emptyResponse, foldResponse, hasEnded } from './response.ts';
import { reviseViews } from './revise-views.ts';
import { withoutUndefined } from './start-item.ts';
import { type UpsertFoldConfig, upsertFoldConfig } from './upsert-config.ts';
import type { FoldResult, Step, UpsertFoldState } from './upsert-state.ts';

/** Throws LiminalError `INVALID_UPSERT_CONFIG`. */
export function startUpsertFold(config: Partial<UpsertFoldConfig> = {}): UpsertFoldState {
  return {
    config: upsertFoldConfig(config),
    response: emptyResponse(),
    open: new Map(),
    finished: new Set(),
  };
}

/**
 * Folds one event in; `now` is milliseconds since the epoch. A duplicate or older event, and any after the terminal
 * one, changes nothing and emits nothing.
 */
export function foldUpsert(state: UpsertFoldState, event: StreamEvent, now: number): FoldResult {
  const response = foldResponse(state.response, event);
  const { head } = response;
  if (response === state.response || !head) return { state, outputs: [] };
  const step = { state: { ...state, response }, head, timestamp: event.timestamp, now };
  const { items, open } = state.response;
  const touched = response.items !== items || response.open !== open || hasEnded(response);
  if (touched) return foldItems(step, event.payload);
  const starts = response.started && !state.response.started;
  return { state: step.state, outputs: starts ? [turnStarted(step)] : [] };
}

/**
 * The turn is over for its readers without a terminal event: everything under way ends as an error with all that was
 * buffered (TC-5.4a), then the turn does. Later events change nothing.
 */
export function destroyUpsertFold(
  state: UpsertFoldState,
  now: number,
  error: ErrorObject,
): FoldResult {
  if (!state.response.head || hasEnded(state.response)) return { state, outputs: [] };
  const head = { ...state.response.head, status: 'error' as const, error };
  const ended = { ...state, response: { ...state.response, head } };
  return endTurn({ state: ended, head, timestamp: new Date(now).toISOString(), now });
}

/** When `flushIdle` has something to emit, in milliseconds since the epoch; undefined while nothing is buffered. */
export function nextFlushAt(state: UpsertFoldState): number | undefined {
  const times = [...state.open.values()].map(({ pace }) => pace.flushAt);
  const due = times.filter((time) => time !== undefined);
  return due.length > 0 ? Math.min(...due) : undefined;
}

/** Emits what has been buffered for `batchTimeoutMs` since its last delta (TC-5.4b). */
export function flushIdle(state: UpsertFoldState, now: number): FoldResult {
  const { head } = state.response;
  const due = [...state.open].filter(([, { pace }]) => (pace.flushAt ?? Infinity) <= now);
  if (!head || due.length === 0) return { state, outputs: [] };
  const open = new Map(state.open);
  const outputs = due.map(([id, view]): FoldOutput => {
    open.set(id, { ...view, emitted: true, pace: resetPace(view.pace, 0) });
    const moment = { head, timestamp: view.changedAt, now };
    return emitOpen(moment, view.view, view.emitted ? 'update' : 'create');
  });
  return { state: { ...state, open }, outputs };
}

function foldItems(step: Step, payload: EventPayload): FoldResult {
  if (payload.type === 'item_delta') return growView(step, payload);
  if (hasEnded(step.state.response)) return endTurn(step);
  return reviseViews(step, 'itemId' in payload ? payload.itemId : undefined);
}

function endTurn(step: Step): FoldResult {
  const { state, outputs } = reviseViews(step, undefined);
  return { state, outputs: [...outputs, turnEnded(step)] };
}

function turnStarted({ head }: Step): FoldOutput {
  const { turnId, sessionId, modelId, providerId } = head;
  return { kind: 'turn', event: { type: 'turn_started', turnId, sessionId, modelId, providerId } };
}

/** A failed turn is a `turn_error`, never a `turn_complete` (TC-5.4f). */
function turnEnded({ head }: Step): FoldOutput {
  const { turnId, sessionId, status, error, usage } = head;
  if (status === 'error') {
    const errorCode = error?.code ?? 'TURN_FAILED';
    const errorMessage = error?.message ?? 'The turn failed.';
    return {
      kind: 'turn',
      event: { type: 'turn_error', turnId, sessionId, errorCode, errorMessage },
    };
  }
  const outcome = status === 'aborted' ? 'cancelled' : 'completed';
  const event = { type: 'turn_complete', turnId, sessionId, status: outcome, usage } as const;
  return { kind: 'turn', event: withoutUndefined(event) };
}
