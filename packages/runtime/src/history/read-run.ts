import type { ResponseState, StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, resumeResponse } from '@liminal/protocol';
import type { EventArchive, EventLog, ResponseStore } from '@liminal/storage';
import type { Meter } from '../meter.ts';

/** The other servers that show a run. */
export interface RunEndNotifier {
  /** Notifies the other servers that history has the run's end. The other servers do not get this end from the log. */
  notifyEndInHistory(run: { runId: string; sessionId: string }): Promise<void>;
  /**
   * Whether this server must count the end of a run. Several servers may end the same run: only the first call returns
   * true.
   */
  claimEndCount(runId: string): Promise<boolean>;
}

export interface Storage {
  log: EventLog;
  store: ResponseStore;
  /** The archive for events of finished runs; undefined if they are not kept. */
  enabledArchive?: Pick<EventArchive, 'store'>;
  /** Set only in a cluster. */
  cluster?: RunEndNotifier;
  meter?: Pick<Meter, 'turnEnded'> | undefined;
}

/**
 * Returns a run's current state, from the log. If the log has dropped events, even during the read, continues from the
 * run's stored state: dropped events were stored before.
 */
export async function readRun({ log, store }: Storage, runId: string): Promise<ResponseState> {
  const logged = await log.read(runId);
  const begun = isWhole(logged) ? emptyResponse() : await readStored(store, runId);
  return logged.filter(({ seq }) => seq > begun.lastSeq).reduce(foldResponse, begun);
}

/** Archives the events of a run that the log has, if events are archived. Call it before the log drops the events. */
export async function archiveEvents(
  { log, enabledArchive }: Storage,
  runId: string,
): Promise<void> {
  if (enabledArchive) await enabledArchive.store(runId, await log.read(runId));
}

/** Returns whether history has a run up to its end. */
export async function hasEndInHistory({ store }: Storage, runId: string): Promise<boolean> {
  const stored = await store.getResponse(runId);
  return stored !== undefined && stored.status !== 'in_progress';
}

async function readStored(store: ResponseStore, runId: string): Promise<ResponseState> {
  const stored = await store.getResponse(runId);
  return stored ? resumeResponse(stored) : emptyResponse();
}

function isWhole(logged: readonly StreamEvent[]): boolean {
  return logged.length > 0 && logged.every(({ seq }, index) => seq === index);
}
