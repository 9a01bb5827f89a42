import type {
  ErrorObject,
  EventPayload,
  QueuedMessage,
  ResponseState,
  RunEnvelope,
  StreamEvent,
  Usage,
} from '@liminal/protocol';
import {
  closeOpenItems,
  currentItems,
  emptyResponse,
  foldResponse,
  stampEvent,
  toResponse,
  steeredItemId,
} from '@liminal/protocol';
import type { LoggedRun, SessionRecord } from '@liminal/storage';
import { errorCode } from '../errors.ts';
import { meterTurn } from '../meter.ts';
import { hasEndInHistory, archiveEvents, readRun, type Storage } from './read-run.ts';
import { backInQueue, openSteered, type WrittenRun } from '../turn/index.ts';

/** Why a turn was cut off. */
const stopped: ErrorObject = {
  code: 'OWNER_LOST',
  message: 'The server stopped while this turn was running. Everything up to then is kept.',
};
const forgotten: ErrorObject = {
  code: 'OWNER_LOST',
  message:
    'The log lost a part of this turn, so the turn was ended. Everything known up to then is kept.',
};
const broken: ErrorObject = {
  code: 'INTERNAL',
  message:
    'Liminal could not process an event of this turn, so the turn was ended. Everything up to then is kept; the server’s log has details.',
};

/**
 * Ends the runs that an earlier server left open, and corrects the queues of their sessions. Resolves with the sessions
 * whose turn was cut off while the turn waited for a user.
 */
export async function recover(storage: Storage, now: () => string): Promise<string[]> {
  const runs = await storage.log.unsettled();
  for (const run of runs) {
    await endRun(storage, run, now);
    await saveSoFar(storage, run.runId);
  }
  const bySession = Map.groupBy(runs, ({ sessionId }) => sessionId);
  const waiting: string[] = [];
  for (const record of await storage.store.listSessions()) {
    const { sessionId } = record;
    const { awaits } = await repairSession(storage, record, bySession.get(sessionId) ?? []);
    if (awaits === true) waiting.push(sessionId);
  }
  // Settle the runs last: if recovery fails before this, the next try finds the remaining runs in the log.
  for (const run of runs) await storage.log.settle(run.runId);
  return waiting;
}

/**
 * Recovers one session whose owner is lost; the projector settles the session's runs. Call this function while holding
 * the session's lease; `fence` is the fencing token of that lease.
 */
export async function recoverSession(
  storage: Storage,
  sessionId: string,
  fence: number,
  now: () => string,
): Promise<void> {
  // Take the session first: its record then contains everything that the lost owner stored, and the store rejects
  // further writes of the lost owner.
  const record = await storage.store.takeSession(sessionId, fence);
  const shown = await shownAsOpen(storage, sessionId);
  const all = await storage.log.unsettled();
  const runs = all.filter((run) => run.sessionId === sessionId);
  for (const run of runs) {
    await endRun(storage, run, now);
    // History orders runs by their first save, and a projector may save the next run before this one.
    await saveSoFar(storage, run.runId);
  }
  for (const runId of shown) {
    // Either the log has lost all or a part of this run, or the run has just ended in history.
    if (runs.some((run) => run.runId === runId) || (await hasEndInHistory(storage, runId)))
      continue;
    await endInHistory(storage, await readRun(storage, runId), now);
  }
  if (record) await repairSession(storage, record, runs);
}

/**
 * Returns the newest runs that history shows as running. Call this function before reading the log. Then a run that the
 * next owner begins in between is neither in this result nor in the log's; and a run that is in this result but not in
 * the log has been lost by the log.
 */
async function shownAsOpen({ store }: Storage, sessionId: string): Promise<string[]> {
  const { heads } = await store.readItems(sessionId, { limit: 1 });
  return heads.filter(({ status }) => status === 'in_progress').map(({ id }) => id);
}

/** The session of a turn, from the log or from history. */
export async function sessionOfTurn(
  { log, store }: Pick<Storage, 'log' | 'store'>,
  turnId: string,
): Promise<string | undefined> {
  // The first run of a turn shares the turn's id.
  const [first] = await log.read(turnId, { limit: 1 });
  return first?.sessionId ?? (await store.getResponse(turnId))?.sessionId;
}

async function saveSoFar(storage: Storage, runId: string): Promise<void> {
  // Archive first: a projector that resumes from history does not see the earlier events.
  await archiveEvents(storage, runId);
  const response = toResponse(await readRun(storage, runId));
  if (response) await storage.store.saveResponse(response);
}

async function repairSession(
  storage: Storage,
  record: SessionRecord,
  runs: readonly LoggedRun[],
): Promise<SessionRecord> {
  const lost = runs.some((run) => !run.ended);
  const asked = await Promise.all(
    runs.map(async (run) => !run.ended && wasWaitingForUser(storage, run)),
  );
  const sending = record.queue.some((entry) => entry.state === 'sending');
  const leftovers = (
    await Promise.all(runs.map(async ({ runId }) => leftoverMessages(storage, runId)))
  ).flat();
  if (!sending && !lost && leftovers.length === 0) return record;
  const unknown = leftovers.filter((one) =>
    record.queue.every(({ turnId }) => turnId !== one.turnId),
  );
  const queue = await undelivered([...unknown, ...record.queue], storage, runs);
  const awaits = asked.some(Boolean);
  const failed = record.failed || lost;
  // A turn that waited for a user will resume, and a turn that a user stopped has ended as the user wanted: neither
  // turn counts as interrupted.
  const isInterrupted = lost && !awaits && record.queuePaused !== true;
  const usage = await usageAfter(storage, record, runs);
  const repaired = {
    ...record,
    queue,
    failed,
    ...(usage && { lastKnown: { ...record.lastKnown, usage } }),
    ...(awaits && { awaits }),
    ...(isInterrupted && { interrupted: true }),
  };
  await storage.store.saveSession(repaired);
  return repaired;
}

/** Returns the session's usage counts, updated with reports of its last runs that the record may lack. */
async function usageAfter(
  storage: Storage,
  record: SessionRecord,
  runs: readonly LoggedRun[],
): Promise<Usage | undefined> {
  let usage = record.lastKnown?.usage;
  for (const { runId } of runs) {
    const reported = toResponse(await readRun(storage, runId))?.usage;
    if (reported) usage = { ...usage, ...reported };
  }
  return usage;
}

/** Returns whether a run was waiting for a user when it was cut off, and no user had stopped the run. */
async function wasWaitingForUser(
  storage: Storage,
  { runId, sessionId }: LoggedRun,
): Promise<boolean> {
  if (await wasStopped(storage, { runId, sessionId })) return false;
  const items = toResponse(await readRun(storage, runId))?.outputItems ?? [];
  return items.some((item) => item.type === 'approval' && item.outcome?.outcome === 'cancelled');
}

/** Whether a message was withdrawn from a run to get a turn of its own. */
const isForLater = (reason: string | undefined): boolean =>
  reason === 'own_turn' || reason === backInQueue;

/** Steered messages of a run that were moved to a later turn; the queue may lack them. */
async function leftoverMessages({ log }: Storage, runId: string): Promise<QueuedMessage[]> {
  const events = await log.read(runId);
  return events.flatMap(({ payload, timestamp }, at): QueuedMessage[] => {
    if (payload.type !== 'item_cancelled' || !isForLater(payload.reason)) return [];
    const before = events.slice(0, at).reduce(foldResponse, emptyResponse());
    const [item] = currentItems(before, [payload.itemId]);
    if (item?.type !== 'message') return [];
    const { content: message, blocks } = item;
    const turnId = payload.itemId.slice(steeredItemId(runId, '').length);
    const entry = { turnId, message, ...(blocks && { blocks }) };
    return [{ ...entry, queuedAt: timestamp, state: 'sending' }];
  });
}

/** Returns the queued messages that have not reached their agent. */
async function undelivered(
  queue: readonly QueuedMessage[],
  storage: Storage,
  runs: readonly LoggedRun[],
): Promise<QueuedMessage[]> {
  const states = await Promise.all(runs.map(async ({ runId }) => readRun(storage, runId)));
  const items = states.flatMap((state) => toResponse(state)?.outputItems ?? []);
  const itemIds = new Set(items.map(({ id }) => id));
  const isSteered = ({ turnId }: QueuedMessage): boolean =>
    runs.some(({ runId }) => itemIds.has(steeredItemId(runId, turnId)));
  const begun = await Promise.all(queue.map(async ({ turnId }) => sessionOfTurn(storage, turnId)));
  return queue
    .filter((entry, index) => begun[index] === undefined && !isSteered(entry))
    .map((entry) => ({ ...entry, state: 'queued' }));
}

/** Returns whether a user stopped a run: the session's record may show the stop before the log has it. */
async function wasStopped(
  { log, store }: Storage,
  { runId, sessionId }: Pick<LoggedRun, 'runId' | 'sessionId'>,
): Promise<boolean> {
  if ((await store.getSession(sessionId))?.queuePaused === true) return true;
  return (await log.read(runId)).some(({ payload }) => payload.type === 'turn_aborted_by_user');
}

/** Closes an open run's items (invariant 3), and appends its terminal event (invariant 2). */
async function endRun(
  storage: Storage,
  run: LoggedRun,
  now: () => string,
  error = stopped,
): Promise<void> {
  const isStopped = !run.ended && (await wasStopped(storage, run));
  let tried: number | undefined;
  for (let open = !run.ended; open;) {
    const state = await readRun(storage, run.runId);
    // No other server adds to the run, and the log still rejected the append: the log has lost events that history has.
    if (state.lastSeq === tried) return endInHistory(storage, state, now);
    tried = state.lastSeq;
    try {
      const end = endEvents(run, state, now(), error, isStopped);
      await storage.log.append(run.runId, end);
      open = false;
      await count(storage, end.reduce(foldResponse, state));
    } catch (error) {
      // Either the run's writer is alive, has ended the run first and will stop soon; or another server has ended the
      // run.
      if (errorCode(error) === 'RUN_ENDED') return;
      if (errorCode(error) !== 'SEQ_CONFLICT') throw error;
    }
  }
}

/**
 * Ends a run whose writer cannot continue. If the log still has all events that it had accepted, the session's owner
 * ends the run in the log. If the log has lost events, only the writer has the complete run. The writer then ends the
 * run in history, even if the writer's server is no longer the owner.
 */
export async function endLostRun(
  storage: Storage,
  { runId, state, loggedSeq, isBroken }: WrittenRun,
  isOwner: boolean,
  now: () => string,
): Promise<void> {
  const run = (await storage.log.unsettled()).find((one) => one.runId === runId);
  const isWhole = run ? run.ended || run.lastSeq >= loggedSeq : loggedSeq < 0;
  if (!isWhole && !(await hasEndInHistory(storage, runId))) {
    await endInHistory(storage, state, now);
  } else if (run && isOwner) {
    await endRun(storage, run, now, isBroken ? broken : stopped);
  }
}

/** Ends a run in history; `state` may contain events that the log has lost. */
export async function endInHistory(
  storage: Storage,
  state: ResponseState,
  now: () => string,
): Promise<void> {
  const { log, store, cluster } = storage;
  const response = toResponse(state);
  if (!response) return;
  const { id: runId, turnId, sessionId } = response;
  const { traceContext = { traceparent: '' } } = response;
  const run = { runId, turnId, sessionId, traceContext };
  const ended = endEvents(run, state, now(), forgotten).reduce(foldResponse, state);
  const endedRun = toResponse(ended);
  if (endedRun) await store.saveResponse(endedRun);
  await count(storage, ended);
  await log.settle(runId);
  await cluster?.notifyEndInHistory(run);
}

/**
 * Counts a run that was ended on this server. If several servers end the run, only one of them counts it. Counts no
 * cost: agents report the session's cost only with a turn's regular end.
 */
async function count({ meter, store, cluster }: Storage, ended: ResponseState): Promise<void> {
  const run = toResponse(ended);
  if (!meter || !run) return;
  if (cluster && !(await cluster.claimEndCount(run.id))) return;
  const record = await store.getSession(run.sessionId).catch(() => undefined);
  const cliType = record?.cliType ?? run.providerId;
  const turn = meterTurn(run, { cliType, costBefore: run.usage?.costUsd });
  if (turn) meter.turnEnded(turn);
}

/**
 * The events that end an open run, after its open items. Messages that a stopped run's agent had not read wait in the
 * queue.
 */
function endEvents(
  run: RunEnvelope & { turnId: string },
  state: ResponseState,
  timestamp: string,
  error: ErrorObject,
  isStopped = false,
): StreamEvent[] {
  const unread = new Set(isStopped ? openSteered(state).map(({ id }) => id) : []);
  const payloads: EventPayload[] = [
    ...closeOpenItems(state, { status: 'error', error }).map((close): EventPayload =>
      'itemId' in close && unread.has(close.itemId)
        ? { type: 'item_cancelled', itemId: close.itemId, reason: backInQueue }
        : close,
    ),
    { type: 'response_error', error },
  ];
  return payloads.map((payload, index) =>
    stampEvent({ turnId: run.turnId, timestamp, payload }, run, state.lastSeq + 1 + index),
  );
}
