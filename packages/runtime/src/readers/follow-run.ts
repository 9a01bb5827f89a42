import { type Response, toResponse, type StreamEvent } from '@liminal/protocol';
import type { FollowRunOptions, RunFeed } from '../api.ts';
import { RuntimeError } from '../errors.ts';
import { readRun, type Storage } from '../history/index.ts';

/** A run from history, or the run so far. Throws `RUN_NOT_FOUND`. */
export async function wholeRun(storage: Storage, runId: string): Promise<Response> {
  const response = toResponse(await readRun(storage, runId));
  if (!response) throw new RuntimeError('RUN_NOT_FOUND', `There is no run ${runId}.`);
  return response;
}

/** A run's events after `after` (-1 for all), or the run itself if the log has dropped them. Throws `RUN_NOT_FOUND`. */
export async function followRun(
  storage: Storage,
  runId: string,
  options: FollowRunOptions,
): Promise<RunFeed> {
  // Subscribes before looking the run up, so that a run that is settled in between is still sent to its end.
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
  // The run may have begun since the log was read.
  const comes = response === undefined ? options.waits === true : false;
  if (comes || (await isKept())) {
    return { kind: 'events', events: withoutGap(first, follower, options.after) };
  }
  giveUp.abort();
  return { kind: 'snapshot', response: response ?? (await wholeRun(storage, runId)) };
}

/**
 * Continues an iterator whose first step is in progress. Ends at a gap: the log has dropped events because the
 * subscriber was too slow. If the subscriber asks again from its place, it gets a `snapshot` (invariant 7).
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
