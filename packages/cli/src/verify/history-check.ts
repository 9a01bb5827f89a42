import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Requests } from '@liminal/client';
import { LiminalError, type Response } from '@liminal/protocol';

/** How soon to look again, ms. */
const AGAIN_MS = 100;

interface Options {
  forMs: number;
  signal: AbortSignal;
  /** Whether servers share a database, and projectors bring runs there. */
  isShared: boolean;
}

/** Waits until a run is in history, and holds it against its events. Throws LiminalError `HISTORY_WRONG`. */
export async function checkHistory(
  requests: Requests,
  run: Response,
  { forMs, signal, isShared }: Options,
): Promise<void> {
  const end = performance.now() + forMs;
  // A session is busy until its last run is in history.
  while (!isAtRest((await requests.status(run.sessionId)).state)) {
    if (performance.now() > end) throw late(forMs, isShared);
    await delay(AGAIN_MS, undefined, { signal });
  }
  const [field] = differences(run, await requests.getRun(run.id));
  if (field === undefined) return;
  throw new LiminalError(
    'HISTORY_WRONG',
    `History does not have the run as its events tell it: “${field}” differs. This is a fault of Liminal: please report it.`,
  );
}

const isAtRest = (state: string): boolean => state === 'idle' || state === 'failed';

function late(forMs: number, isShared: boolean): LiminalError {
  const advice = isShared
    ? 'See that a projector is at work (./liminal projector, or a server without "projector": false), and that it reaches the database.'
    : 'Look at what the server logs.';
  return new LiminalError(
    'HISTORY_WRONG',
    `History did not get the run within ${forMs / 1_000} s. ${advice}`,
  );
}

/** The fields that differ. */
function differences(one: Response, other: Response): string[] {
  const [ours, theirs] = [plain(one), plain(other)];
  const fields = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...fields].filter((field) => !isDeepStrictEqual(ours[field], theirs[field]));
}

/** As it travels: without fields that are undefined. */
function plain(run: Response): Record<string, unknown> {
  return JSON.parse(JSON.stringify(run)) as Record<string, unknown>;
}
