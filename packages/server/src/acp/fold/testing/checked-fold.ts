import type { SessionUpdate } from '@agentclientprotocol/sdk';
import {
  type EventPayload,
  emptyResponse,
  foldResponse,
  type StreamEvent,
  toResponse,
} from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { updateProblems } from '@liminal/testkit/acp-schema';
import { foldRun, foldSnapshot, type RunFoldState, startRunFold } from '../run-fold.ts';
import type { ClientFeatures, Update } from '../acp-fold.ts';

export const showsAll: ClientFeatures = { notices: true, compactions: true, terminals: true };
export const showsLittle: ClientFeatures = { notices: false, compactions: false, terminals: false };

const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };

export interface FoldOptions {
  shows?: ClientFeatures;
  isOwn?: boolean;
  /** Whether the client was attached during the run. Used only for snapshots. */
  isLive?: boolean;
}

/** Folds a run event by event, and returns the updates. Checks each update against the official schema. */
export function foldCheckedEvents(
  events: readonly StreamEvent[],
  { shows = showsLittle, isOwn = false }: FoldOptions = {},
  from: RunFoldState = startRunFold(),
): { updates: Update[]; state: RunFoldState } {
  const told: Update[] = [];
  let state = from;
  for (const event of events) {
    const step = foldRun(state, event, shows, isOwn);
    state = step.state;
    told.push(...checked(step.updates));
  }
  return { updates: told, state };
}

/** Returns the updates that lead from the state `from` to the state after these events, in one step. */
export function foldCheckedSnapshot(
  events: readonly StreamEvent[],
  { shows = showsLittle, isOwn = false, isLive = false }: FoldOptions = {},
  from: RunFoldState = startRunFold(),
): { updates: Update[]; state: RunFoldState } {
  const response = toResponse(events.reduce(foldResponse, emptyResponse()));
  if (response === undefined) return { updates: [], state: from };
  const { updates: told, state } = foldSnapshot(from, response, shows, isOwn, isLive);
  return { updates: checked(told), state };
}

/** Returns the updates of a run that has these payloads after `response_start`. */
export function updatesOf(
  payloads: readonly EventPayload[],
  telling?: FoldOptions,
): SessionUpdate[] {
  return updatesIn(foldCheckedEvents(runOf([start, ...payloads]), telling).updates);
}

/**
 * Returns the updates of a run that has these payloads after `response_start`. They are computed in one step from the
 * whole run.
 */
export function replayOf(
  payloads: readonly EventPayload[],
  telling?: FoldOptions,
): SessionUpdate[] {
  return updatesIn(foldCheckedSnapshot(runOf([start, ...payloads]), telling).updates);
}

export const updatesIn = (told: readonly Update[]): SessionUpdate[] =>
  told.flatMap((one) => (one.kind === 'update' ? [one.update] : []));

function checked(told: readonly Update[]): Update[] {
  const problems = updatesIn(told).flatMap((update) => {
    const found = updateProblems(update);
    return found.length === 0 ? [] : [...found, JSON.stringify(update)];
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return [...told];
}
