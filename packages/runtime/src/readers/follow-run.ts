import { type Response, toResponse, type StreamEvent } from '@liminal/protocol';
import type { FollowRunOptions, RunFeed } from '../api.ts';
import { RuntimeError } from '../errors.ts';
import { readRun, type Storage } from '../history/index.ts';

/** A run from history, or so far. Throws `RUN_NOT_FOUND`. */
export async function wholeRun(storage: Storage, runId: string): Promise<Response> {
  const response = toResponse(await readRun(storage, runId));
  if (!response) throw new RuntimeError('RUN_NOT_FOUND', `There is no run ${runId}.`);
  return response;
}

/** A run's events after `after` (-1: all), or the run itself if the log has dropped them. Throws `RUN_NOT_FOUND`. */
export async function followRun(
  storage: Storage,
  runId: string,
  options: FollowRunOptions,
): Promise<RunFeed> {
  // Follow before looking: a run that is settled in between is then still given to its end.
  const giveUp = new AbortController();
  const signal = AbortSignal.any([options.signal, giveUp.signal]);
  const following = storage.log.follow(runId, { after: options.after, signal });
  const follower = following[Symbol.asyncIterator]();
  const first = follower.next();
  const isKept = async (): Promise<boolean> => {
    const [known] = await storage.log.read(runId, { limit: 1 });
    return known !== undefined && known.seq <= options.after + 1;
  };
  const response = (await isKept()) ? undefined : toResponse(await readRun(storage, runId));
  // It may have begun since the log was asked.
  const comes = response === undefined ? options.waits === true : false;
  if (comes || (await isKept())) {
    return { kind: 'events', events: withoutGap(first, follower, options.after) };
  }
  giveUp.abort();
  return { kind: 'snapshot', response: response ?? (await wholeRun(storage, runId)) };
}

/**
 * Goes on with an iterator whose first step is under way. Ends at a gap: the log has dropped events because the reader
 * was too slow. Asking again from its place, the reader is told `snapshot` (invariant 7).
 */
async function* withoutGap(
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
