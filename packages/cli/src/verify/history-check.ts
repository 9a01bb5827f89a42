import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Requests } from '@liminal/client';
import { LiminalError, type Response } from '@liminal/protocol';
import { errors } from '../errors.ts';

/** The delay between two checks, in ms. */
const againMs = 100;

interface HistoryCheckOptions {
  forMs: number;
  signal: AbortSignal;
  /** Whether several servers share the database. If they do, projectors write history. */
  isShared: boolean;
}

/** Waits until a run is in history, and compares it with the run's events. Throws LiminalError `HISTORY_WRONG`. */
export async function checkHistory(
  requests: Requests,
  run: Response,
  { forMs, signal, isShared }: HistoryCheckOptions,
): Promise<void> {
  const end = performance.now() + forMs;
  // Wait until the session is idle: a session is busy until its last run is in history.
  while (!isAtRest((await requests.status(run.sessionId)).state)) {
    if (performance.now() > end) throw late(forMs, isShared);
    await delay(againMs, undefined, { signal });
  }
  const [field] = differences(run, await requests.getRun(run.id));
  if (field === undefined) return;
  throw errors.HISTORY_WRONG.differs(field);
}

const isAtRest = (state: string): boolean => state === 'idle' || state === 'failed';

function late(forMs: number, isShared: boolean): LiminalError {
  const { late, lateInCluster } = errors.HISTORY_WRONG;
  return (isShared ? lateInCluster : late)(forMs / 1_000);
}

/** Returns the names of the fields that differ. */
function differences(one: Response, other: Response): string[] {
  const [ours, theirs] = [plain(one), plain(other)];
  const fields = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...fields].filter((field) => !isDeepStrictEqual(ours[field], theirs[field]));
}

/** Returns the run as it would be sent in JSON, without undefined fields. */
function plain(run: Response): Record<string, unknown> {
  return JSON.parse(JSON.stringify(run)) as Record<string, unknown>;
}
