/**
 * Folds a run's events to updates for an ACP client. In ACP, messages can only grow and calls can only be replaced.
 * Each step returns the difference between the state of the run that was already sent and the current state. For a
 * client that has missed events, or that has no events of the run yet, the difference is computed in the same way
 * (`foldSnapshot`).
 */
import {
  changedBy,
  currentItems,
  emptyResponse,
  foldResponse,
  type Response,
  resumeResponse,
  type ResponseState,
  type StreamEvent,
} from '@liminal/protocol';
import { type ClientFeatures, AcpFold, type Update } from './acp-fold.ts';
import { type CallsState, noCalls } from './call-updates.ts';

export interface RunFoldState {
  readonly response: ResponseState;
  readonly calls: CallsState;
}

export interface RunFold {
  readonly state: RunFoldState;
  readonly updates: readonly Update[];
}

export function startRunFold(): RunFoldState {
  return { response: emptyResponse(), calls: noCalls };
}

/**
 * Folds one event. `isOwn`: whether the client itself sent the turn's message, and therefore already shows the message.
 */
export function foldRun(
  state: RunFoldState,
  event: StreamEvent,
  features: ClientFeatures,
  isOwn: boolean,
): RunFold {
  const response = foldResponse(state.response, event);
  if (response === state.response) return { state, updates: [] };
  const { payload } = event;
  const delta = payload.type === 'item_delta' ? payload.deltaContent : undefined;
  const fold = new AcpFold({
    before: state,
    after: response,
    features,
    isOwn,
    isLive: true,
    delta,
  });
  return foldItems(fold, response, changedBy(payload));
}

/**
 * Returns the updates for a client to which the run was sent up to `state`. `isLive`: whether the client was attached
 * when the events happened.
 */
export function foldSnapshot(
  state: RunFoldState,
  snapshot: Response,
  features: ClientFeatures,
  isOwn: boolean,
  isLive: boolean,
): RunFold {
  const response = resumeResponse(snapshot);
  if (response.lastSeq <= state.response.lastSeq) return { state, updates: [] };
  const ids = new Set([...state.response.items.byId.keys(), ...response.items.byId.keys()]);
  const fold = new AcpFold({ before: state, after: response, features, isOwn, isLive });
  return foldItems(fold, response, ids);
}

function foldItems(fold: AcpFold, response: ResponseState, ids: Iterable<string>): RunFold {
  for (const id of ids) if (!response.items.byId.has(id)) fold.withdrawItem(id);
  for (const item of currentItems(response, ids)) fold.foldItem(item);
  fold.foldUsage();
  fold.foldEnd();
  return { state: { response, calls: fold.calls }, updates: fold.updates };
}
