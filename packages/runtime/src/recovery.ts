import type { EventPayload, QueuedMessage, StreamEvent } from '@liminal/protocol';
import {
  closeOpenItems,
  emptyResponse,
  foldResponse,
  stampEvent,
  toResponse,
} from '@liminal/protocol';
import type { EventLog, LoggedRun, ResponseStore } from '@liminal/storage';

const LOST = {
  code: 'OWNER_LOST',
  message: 'The server stopped while this turn was running. What was said until then is kept.',
};

interface Storage {
  log: EventLog;
  store: ResponseStore;
}

/** Brings what an earlier server left behind to an end: its open runs, and messages that were on their way. */
export async function recover(storage: Storage, now: () => string): Promise<void> {
  const lost = await endRuns(storage, now);
  for (const record of await storage.store.listSessions()) {
    const sending = record.queue.some((entry) => entry.state === 'sending');
    if (!sending && !lost.has(record.sessionId)) continue;
    const queue = await undelivered(record.queue, storage.store);
    const failed = record.failed || lost.has(record.sessionId);
    await storage.store.saveSession({ ...record, queue, failed });
  }
}

/** What still waits; a message on its way whose turn is in history has reached its agent. */
async function undelivered(
  queue: readonly QueuedMessage[],
  store: ResponseStore,
): Promise<QueuedMessage[]> {
  const runs = await Promise.all(queue.map(async ({ turnId }) => store.getResponse(turnId)));
  return queue
    .filter((_, index) => runs[index] === undefined)
    .map((entry) => ({ ...entry, state: 'queued' }));
}

/**
 * Ends and projects open runs: each gets its terminal event (invariant 2) after its open items have ended
 * (invariant 3). Gives the sessions whose turn was lost.
 */
async function endRuns({ log, store }: Storage, now: () => string): Promise<Set<string>> {
  const lost = new Set<string>();
  for (const run of await log.unsettled()) {
    const events = await log.read(run.runId);
    if (!run.ended) {
      lost.add(run.sessionId);
      const ending = endOf(run, events, now());
      await log.append(run.runId, ending);
      events.push(...ending);
    }
    const response = toResponse(events.reduce(foldResponse, emptyResponse()));
    if (response) await store.saveResponse(response);
    await log.settle(run.runId);
  }
  return lost;
}

function endOf(run: LoggedRun, events: readonly StreamEvent[], timestamp: string): StreamEvent[] {
  const state = events.reduce(foldResponse, emptyResponse());
  const payloads: EventPayload[] = [
    ...closeOpenItems(state, { status: 'error', error: LOST }),
    { type: 'response_error', error: LOST },
  ];
  return payloads.map((payload, index) =>
    stampEvent({ turnId: run.turnId, timestamp, payload }, run, run.lastSeq + 1 + index),
  );
}
