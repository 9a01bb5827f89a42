import type { StreamEvent } from '@liminal/protocol';
import { isTerminal } from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { RunConstants } from './event-rows.ts';
import { eventIdOf } from './event-rows.ts';

/** A run's state in the log. */
export interface RunProgress {
  constants: RunConstants;
  lastSeq: number;
  ended: boolean;
  settled: boolean;
}

/**
 * Checks whether these events (at least one) may be appended to a run. Returns the run's progress after these events.
 * `run` is undefined before the first append. Throws the errors of `EventLog.append`.
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
    if (ended) throw errors.RUN_ENDED.ended(runId, event);
    if (event.seq !== lastSeq + 1) throw errors.SEQ_CONFLICT.unexpected(runId, event, lastSeq + 1);
    checkEnvelope(runId, constants, event);
    lastSeq = event.seq;
    ended = isTerminal(event);
  }
  return { constants, lastSeq, ended, settled: false };
}

/** Returns whether there are any events; also narrows the type. */
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

/** Refuses events with other values of these fields, since the log stores the fields only once per run. */
function checkEnvelope(runId: string, run: RunConstants, event: StreamEvent): void {
  const same =
    event.runId === runId &&
    event.eventId === eventIdOf(runId, event.seq) &&
    event.sessionId === run.sessionId &&
    event.turnId === run.turnId &&
    event.traceContext.traceparent === run.traceContext.traceparent &&
    event.traceContext.tracestate === run.traceContext.tracestate;
  if (!same) throw errors.ENVELOPE_MISMATCH.foreign(runId, event);
}
