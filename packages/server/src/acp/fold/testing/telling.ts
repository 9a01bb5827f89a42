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
import type { Shows, Told } from '../teller.ts';

export const showsAll: Shows = { notices: true, compactions: true, terminals: true };
export const showsLittle: Shows = { notices: false, compactions: false, terminals: false };

const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };

export interface Telling {
  shows?: Shows;
  isOwn?: boolean;
  /** Whether the client was attached during the run; used only for snapshots. */
  isLive?: boolean;
}

/** The updates of a run, event by event. Checks each update against the official schema. */
export function tellEvents(
  events: readonly StreamEvent[],
  { shows = showsLittle, isOwn = false }: Telling = {},
  from: RunFoldState = startRunFold(),
): { told: Told[]; state: RunFoldState } {
  const told: Told[] = [];
  let state = from;
  for (const event of events) {
    const step = foldRun(state, event, shows, isOwn);
    state = step.state;
    told.push(...checked(step.told));
  }
  return { told, state };
}

/** The updates from `from` to these events, in one step. */
export function tellSnapshot(
  events: readonly StreamEvent[],
  { shows = showsLittle, isOwn = false, isLive = false }: Telling = {},
  from: RunFoldState = startRunFold(),
): { told: Told[]; state: RunFoldState } {
  const response = toResponse(events.reduce(foldResponse, emptyResponse()));
  if (response === undefined) return { told: [], state: from };
  const { told, state } = foldSnapshot(from, response, shows, isOwn, isLive);
  return { told: checked(told), state };
}

/** The updates of a run with these payloads after its start. */
export function updatesOf(payloads: readonly EventPayload[], telling?: Telling): SessionUpdate[] {
  return updatesIn(tellEvents(runOf([start, ...payloads]), telling).told);
}

/** The same updates, computed in one step from the whole run. */
export function replayOf(payloads: readonly EventPayload[], telling?: Telling): SessionUpdate[] {
  return updatesIn(tellSnapshot(runOf([start, ...payloads]), telling).told);
}

export const updatesIn = (told: readonly Told[]): SessionUpdate[] =>
  told.flatMap((one) => (one.kind === 'update' ? [one.update] : []));

function checked(told: readonly Told[]): Told[] {
  const problems = updatesIn(told).flatMap((update) => {
    const found = updateProblems(update);
    return found.length === 0 ? [] : [...found, JSON.stringify(update)];
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return [...told];
}
