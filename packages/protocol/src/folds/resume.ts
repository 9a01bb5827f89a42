/** Continues a fold from a Response. The run's earlier events may no longer be stored. */
import type { Response } from '../response.ts';
import { noItems, putItem } from './item-list.ts';
import { itemText } from './item-text.ts';
import { startPace } from './pace.ts';
import { emptyResponse, type ResponseState } from './response.ts';
import type { UpsertFoldConfig } from './upsert-config.ts';
import { type UpsertFoldState, withView } from './upsert-state.ts';
import { startUpsertFold } from './upsert.ts';
import { isShown, progressOf, viewsOf } from './views.ts';

/** Returns the state from which `toResponse` made this Response, so that events after `lastSeq` can be folded in. */
export function resumeResponse(response: Response): ResponseState {
  const { outputItems, lastSeq, updatedAt, ...head } = response;
  const open = outputItems.filter((item) => item.endedAt === undefined);
  return {
    lastSeq,
    updatedAt,
    started: true,
    head,
    items: outputItems.reduce(putItem, noItems),
    open: open.reduce(
      (states, item) => states.set(item.id, { item, text: itemText(item) }),
      emptyResponse().open,
    ),
  };
}

/**
 * Returns an upsert fold for readers that already have the upserts of `responseToUpserts` for the Response. The batch
 * gradient begins again at its first threshold.
 */
export function resumeUpsertFold(
  response: ResponseState,
  config: Partial<UpsertFoldConfig> = {},
): UpsertFoldState {
  const fresh = { ...startUpsertFold(config), response };
  const { head, updatedAt } = response;
  if (!head) return fresh;
  const changedAt = new Date(updatedAt).toISOString();
  const items = response.items.byId.values().map((item) => {
    const open = response.open.get(item.id);
    return open?.item ?? item;
  });
  return viewsOf(items)
    .filter((view) => progressOf(view, head).status === 'open')
    .map((view) => ({
      view,
      emitted: isShown(view, { status: 'open' }),
      pace: startPace,
      changedAt,
    }))
    .reduce(withView, fresh);
}
