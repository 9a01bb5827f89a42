/** Converts a stored Response to upserts: the last state of the live upsert fold (invariant 4). */
import type { Response } from '../response.ts';
import type { TurnSummary } from '../sessions.ts';
import type { UpsertObject } from '../upserts.ts';
import { renderUpsert } from './render-upsert.ts';
import { withoutUndefined } from './start-item.ts';
import { viewEndedAt, isShown, progressOf, viewsOf, type Progress, type View } from './views.ts';

/**
 * Returns the last state of all views of a turn, in order of start. Open items of a running turn have the status
 * `update`, and waiting approvals have `create`. `emittedAt` is ISO 8601 UTC. An item without `endedAt` in a turn that
 * has ended counts as cut off.
 */
export function responseToUpserts(response: Response, emittedAt: string): UpsertObject[] {
  return viewsOf(response.outputItems).flatMap((view) => {
    const progress = progressOf(view, response);
    if (!isShown(view, progress)) return [];
    // If the end of the turn cut the item off, the item ended at the same time as the turn.
    const sourceTimestamp = viewEndedAt(view) ?? new Date(response.updatedAt).toISOString();
    const emission = { status: statusOf(view, progress), sourceTimestamp, emittedAt };
    return [renderUpsert(view, progress, response, emission)];
  });
}

/** A turn's data without its items. */
export function summarizeTurn(response: Response): TurnSummary {
  const { id, turnId, modelId, providerId, status, trigger, createdAt, updatedAt, usage } =
    response;
  const { error, finishReason, rewoundTo, madeElsewhere } = response;
  const running = status === 'queued' || status === 'in_progress';
  return withoutUndefined({
    turnId,
    runId: id,
    modelId,
    providerId,
    status: running ? 'in_progress' : status,
    trigger,
    startedAt: createdAt,
    endedAt: running ? undefined : updatedAt,
    usage,
    // A failed turn has an error instead of a finish reason.
    finishReason: running || status === 'error' ? undefined : (finishReason ?? undefined),
    error,
    rewoundTo,
    madeElsewhere,
  });
}

function statusOf({ item }: View, progress: Progress): UpsertObject['status'] {
  if (progress.status !== 'open') return progress.status;
  return item.type === 'approval' ? 'create' : 'update';
}
