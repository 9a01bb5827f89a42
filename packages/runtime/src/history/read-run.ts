import type { ResponseState, StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, resumeResponse } from '@liminal/protocol';
import type { EventArchive, EventLog, ResponseStore } from '@liminal/storage';
import type { Meter } from '../meter.ts';

/** Other servers that show a run, too. */
export interface RunWatchers {
  /** Tells them that history has the run's end, which the log will not do. */
  endInHistory(run: { runId: string; sessionId: string }): Promise<void>;
  /** Whether this server must count the end of a run. Several servers may end one run: the first call returns true. */
  countsEnd(runId: string): Promise<boolean>;
}

export interface Storage {
  log: EventLog;
  store: ResponseStore;
  /** Where the events of finished runs are kept; absent if they are not to be. */
  keeps?: Pick<EventArchive, 'keep'>;
  /** Set where there are other servers. */
  cluster?: RunWatchers;
  meter?: Pick<Meter, 'turnEnded'> | undefined;
}

/**
 * A run so far, from the log; if the log has dropped events, also while they were read, from its stored state on: they
 * were stored before.
 */
export async function readRun({ log, store }: Storage, runId: string): Promise<ResponseState> {
  const logged = await log.read(runId);
  const begun = isWhole(logged) ? emptyResponse() : await readStored(store, runId);
  return logged.filter(({ seq }) => seq > begun.lastSeq).reduce(foldResponse, begun);
}

/** Keeps the events that the log has of a run, if they are to be kept. Call it before the log is told to drop them. */
export async function keepEvents({ log, keeps }: Storage, runId: string): Promise<void> {
  if (keeps) await keeps.keep(runId, await log.read(runId));
}

/** Whether history has a run to its end. */
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
