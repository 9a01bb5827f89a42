import { type Response, toResponse, type StreamEvent } from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { FollowRunOptions, RunFeed } from '../api.ts';
import { readRun, type Storage } from '../history/index.ts';

/** Returns a run from history; if the run is not in history yet, returns the run so far. Throws `RUN_NOT_FOUND`. */
export async function loadRun(storage: Storage, runId: string): Promise<Response> {
  const response = toResponse(await readRun(storage, runId));
  if (!response) throw errors.RUN_NOT_FOUND.unknown(runId);
  return response;
}

/**
 * A run's events after `after` (-1 for all), or the folded run if the log has dropped its events. Throws
 * `RUN_NOT_FOUND`.
 */
export async function followRun(
  storage: Storage,
  runId: string,
  options: FollowRunOptions,
): Promise<RunFeed> {
  // Follow the run before looking it up: if the run is settled in between, its events up to the end are still sent.
  const giveUp = new AbortController();
  const signal = AbortSignal.any([options.signal, giveUp.signal]);
  const followed = storage.log.follow(runId, { after: options.after, signal });
  const iterator = followed[Symbol.asyncIterator]();
  const first = iterator.next();
  const isInLog = async (): Promise<boolean> => {
    const [known] = await storage.log.read(runId, { limit: 1 });
    return known !== undefined && known.seq <= options.after + 1;
  };
  const response = (await isInLog()) ? undefined : toResponse(await readRun(storage, runId));
  // Look again, because the run may have begun after the log was read.
  const mayStillBegin = response === undefined ? options.waits === true : false;
  if (mayStillBegin || (await isInLog())) {
    return { kind: 'events', events: untilGap(first, iterator, options.after) };
  }
  giveUp.abort();
  return { kind: 'snapshot', response: response ?? (await loadRun(storage, runId)) };
}

/**
 * Continues an iterator whose first step is in progress. Ends at a gap: the log has dropped events because the
 * subscriber was too slow. If the subscriber asks again with its last position, it gets a `snapshot` (invariant 7).
 */
async function* untilGap(
  first: Promise<IteratorResult<StreamEvent>>,
  rest: AsyncIterator<StreamEvent>,
  after: number,
): AsyncGenerator<StreamEvent, void> {
  let next = after + 1;
  try {
    for (let step = await first; !step.done; step = await rest.next()) {
      if (step.value.seq > next) return;
      next = step.value.seq + 1;
      yield step.value;
    }
  } finally {
    await rest.return?.();
  }
}
