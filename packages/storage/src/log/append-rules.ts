import type { StreamEvent } from '@liminal/protocol';
import { isTerminal } from '@liminal/protocol';
import { StorageError } from '../errors.ts';
import type { RunConstants } from './event-rows.ts';
import { eventIdOf } from './event-rows.ts';

/** How far a run has got. */
export interface RunProgress {
  constants: RunConstants;
  lastSeq: number;
  ended: boolean;
  settled: boolean;
}

/**
 * Checks whether a run may go on with these events (at least one), and returns its progress after them.
 * `run` is undefined before the first append. Throws as `EventLog.append` says.
 */
export function advanceRun(
  run: RunProgress | undefined,
  runId: string,
  events: readonly [StreamEvent, ...StreamEvent[]],
): RunProgress {
  const constants = run?.constants ?? constantsOf(events[0]);
  let lastSeq = run?.lastSeq ?? -1;
  let ended = run !== undefined && (run.ended || run.settled);
  for (const event of events) {
    if (ended) throw runEnded(runId, event);
    if (event.seq !== lastSeq + 1) throw seqConflict(runId, event, lastSeq + 1);
    checkEnvelope(runId, constants, event);
    lastSeq = event.seq;
    ended = isTerminal(event);
  }
  return { constants, lastSeq, ended, settled: false };
}

/** Whether there is anything to check and write; also narrows the type. */
export function isNotEmpty(
  events: readonly StreamEvent[],
): events is readonly [StreamEvent, ...StreamEvent[]] {
  return events.length > 0;
}

/** The fields that all events of a run share, from its first event. */
export function constantsOf(event: StreamEvent): RunConstants {
  const { sessionId, turnId, traceContext } = event;
  return { sessionId, turnId, traceContext: { ...traceContext } };
}

/** The log stores these once per run: an event with other values would come back changed. */
function checkEnvelope(runId: string, run: RunConstants, event: StreamEvent): void {
  const same =
    event.runId === runId &&
    event.eventId === eventIdOf(runId, event.seq) &&
    event.sessionId === run.sessionId &&
    event.turnId === run.turnId &&
    event.traceContext.traceparent === run.traceContext.traceparent &&
    event.traceContext.tracestate === run.traceContext.tracestate;
  if (!same) throw envelopeMismatch(runId, event);
}

export function envelopeMismatch(runId: string, event: StreamEvent): StorageError {
  return new StorageError(
    'ENVELOPE_MISMATCH',
    `Event ${event.eventId} (seq ${event.seq}) of turn ${event.turnId} does not belong to run ${runId}: its session, turn, run, trace context and id must be the run's own.`,
  );
}

/** The error for an append to a run that has ended or is settled. */
export function runEnded(runId: string, event: StreamEvent): StorageError {
  return new StorageError(
    'RUN_ENDED',
    `Run ${runId} has ended: ${event.type} (seq ${event.seq}) cannot follow. Start a new run.`,
  );
}

export function seqConflict(runId: string, event: StreamEvent, expected: number): StorageError {
  return new StorageError(
    'SEQ_CONFLICT',
    `Run ${runId} expects seq ${expected}, not ${event.seq}: it has another writer, or its writer lost count.`,
  );
}
