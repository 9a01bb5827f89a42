import type { EventPayload, StreamEvent } from '../events.ts';
import { foldUpsert, startUpsertFold } from '../folds/upsert.ts';
import type { UpsertFoldConfig } from '../folds/upsert-config.ts';
import type { UpsertFoldState } from '../folds/upsert-state.ts';
import type { FoldOutput, UpsertObject } from '../upserts.ts';
import { runOf } from './run-of.ts';

interface Folded {
  state: UpsertFoldState;
  outputs: FoldOutput[];
}

/** Feeds events through the upsert fold, all at `now` (milliseconds since the epoch). */
export function foldEvents(
  events: readonly StreamEvent[],
  from: UpsertFoldState,
  now = Date.UTC(2026, 0, 1),
): Folded {
  let state = from;
  const outputs = events.flatMap((event) => {
    const step = foldUpsert(state, event, now);
    state = step.state;
    return step.outputs;
  });
  return { state, outputs };
}

/** Feeds a run's payloads, after a `response_start`, through a fold with the given configuration. */
export function foldRun(
  payloads: readonly EventPayload[],
  config: Partial<UpsertFoldConfig> = {},
): Folded & { upserts: UpsertObject[] } {
  const start: EventPayload = { type: 'response_start', modelId: 'model', providerId: 'anthropic' };
  const folded = foldEvents(runOf([start, ...payloads]), startUpsertFold(config));
  return { ...folded, upserts: upsertsIn(folded.outputs) };
}

export function upsertsIn(outputs: readonly FoldOutput[]): UpsertObject[] {
  return outputs.flatMap((output) => (output.kind === 'upsert' ? [output.upsert] : []));
}
