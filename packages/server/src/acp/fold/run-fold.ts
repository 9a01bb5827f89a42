/**
 * Folds a run's events to updates for an ACP client. ACP's messages only grow and its calls are only replaced, so
 * each step sends the difference between the run as it was sent and as it is now. The same difference updates a
 * client that has missed events (`foldSnapshot`), or that has seen nothing yet.
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
import { type Shows, Teller, type Told } from './teller.ts';
import { type CallsState, noCalls } from './told-calls.ts';

export interface RunFoldState {
  readonly response: ResponseState;
  readonly calls: CallsState;
}

export interface RunFold {
  readonly state: RunFoldState;
  readonly told: readonly Told[];
}

export function startRunFold(): RunFoldState {
  return { response: emptyResponse(), calls: noCalls };
}

/** Folds one event. `isOwn`: the client sent the turn's message and already shows it. */
export function foldRun(
  state: RunFoldState,
  event: StreamEvent,
  shows: Shows,
  isOwn: boolean,
): RunFold {
  const response = foldResponse(state.response, event);
  if (response === state.response) return { state, told: [] };
  const { payload } = event;
  const delta = payload.type === 'item_delta' ? payload.deltaContent : undefined;
  const teller = new Teller({ before: state, after: response, shows, isOwn, isLive: true, delta });
  return tell(teller, response, changedBy(payload));
}

/** Updates a client that was sent the run up to `state`. `isLive`: the client was attached when it happened. */
export function foldSnapshot(
  state: RunFoldState,
  snapshot: Response,
  shows: Shows,
  isOwn: boolean,
  isLive: boolean,
): RunFold {
  const response = resumeResponse(snapshot);
  if (response.lastSeq <= state.response.lastSeq) return { state, told: [] };
  const ids = new Set([...state.response.items.byId.keys(), ...response.items.byId.keys()]);
  const teller = new Teller({ before: state, after: response, shows, isOwn, isLive });
  return tell(teller, response, ids);
}

function tell(teller: Teller, response: ResponseState, ids: Iterable<string>): RunFold {
  for (const id of ids) if (!response.items.byId.has(id)) teller.withdrawn(id);
  for (const item of currentItems(response, ids)) teller.item(item);
  teller.usage();
  teller.end();
  return { state: { response, calls: teller.calls }, told: teller.told };
}
