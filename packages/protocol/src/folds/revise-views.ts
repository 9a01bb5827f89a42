/**
 * Computes the outputs for an item's start or end, or a turn's end. The cost depends on the number of affected items
 * and their pairs, not on the size of the turn.
 */
import type { FoldOutput } from '../upserts.ts';
import { emitLast, emitOpen } from './emit.ts';
import { growText } from './grow-view.ts';
import { pairableIds } from './item-list.ts';
import { hasContent, itemText } from './item-text.ts';
import { startPace } from './pace.ts';
import { currentItems } from './response.ts';
import {
  type FoldResult,
  type OpenView,
  type FoldStep,
  withoutView,
  withView,
} from './upsert-state.ts';
import { isShown, progressOf, viewsOf, type View } from './views.ts';

/**
 * Emits the changes of views after an item's start or end, or a turn's end. `changed` are the ids of the affected
 * items; at a turn's end, the ids of the items of all open views.
 */
export function reviseViews(step: FoldStep, changed: readonly string[]): FoldResult {
  const { before, state: now } = step;
  const kin = new Set(
    changed.flatMap((id) => [
      ...pairableIds(before.items, id),
      ...pairableIds(now.response.items, id),
    ]),
  );
  const earlier = viewsOf(currentItems(before, kin)).map(({ item }) => item.id);
  const views = viewsOf(currentItems(now.response, kin));
  const ended = new Set(earlier.filter((id) => !now.open.has(id)));
  let { state, outputs } = discardMissing(step, earlier, views);
  for (const view of views) {
    if (ended.has(view.item.id)) continue;
    const revised = reviseView({ ...step, state }, view, changed);
    state = revised.state;
    outputs = [...outputs, ...revised.outputs];
  }
  return { state, outputs };
}

/** Discards a view if its item was withdrawn, or if its item proved to be the answer to a call. */
function discardMissing(
  { state, head }: FoldStep,
  earlier: readonly string[],
  views: readonly View[],
): FoldResult {
  const present = new Set(views.map(({ item }) => item.id));
  const gone = earlier.filter((id) => !present.has(id));
  const shown = gone.filter((id) => state.open.get(id)?.emitted ?? true);
  const { turnId } = head;
  const outputs = shown.map((itemId): FoldOutput => ({ kind: 'discard', turnId, itemId }));
  return { state: gone.reduce(withoutView, state), outputs };
}

function reviseView(step: FoldStep, view: View, changed: readonly string[]): FoldResult {
  const known = step.state.open.get(view.item.id);
  const progress = progressOf(view, step.head);
  if (progress.status === 'open') {
    if (!known) return beginView(step, view);
    return concerns(known, view, changed) ? continueView(step, known, view) : unchanged(step);
  }
  const shown = known?.emitted === true;
  const state = withoutView(step.state, view.item.id);
  if (!shown && !isShown(view, progress)) return { state, outputs: [] };
  return { state, outputs: emitLast(step, view, progress, shown) };
}

function concerns(known: OpenView, view: View, changed: readonly string[]): boolean {
  const shown = [view.item.id, view.answer?.id, known.view.answer?.id];
  return shown.some((id) => id !== undefined && changed.includes(id));
}

function unchanged({ state }: FoldStep): FoldResult {
  return { state, outputs: [] };
}

function beginView(step: FoldStep, view: View): FoldResult {
  const fresh = { view, emitted: false, pace: startPace, changedAt: step.timestamp };
  const { item } = view;
  if (item.type === 'message' || item.type === 'reasoning') {
    const growth = { itemId: item.id, text: itemText(item), patched: false };
    const { next, outputs } = growText(step, fresh, growth);
    return { state: withView(step.state, next), outputs };
  }
  if (!isShown(view, { status: 'open' }))
    return { state: withView(step.state, fresh), outputs: [] };
  const state = withView(step.state, { ...fresh, emitted: true });
  return { state, outputs: [emitOpen(step, view, 'create')] };
}

/**
 * Returns the step of a call that has not ended after this event. Either the call's arguments are complete, or the
 * call's answer has begun, has ended before the call, or was withdrawn.
 */
function continueView(step: FoldStep, known: OpenView, view: View): FoldResult {
  const state = withView(step.state, { ...known, view, changedAt: step.timestamp });
  const visible = known.emitted && step.state.config.appends && !isEmptyStart(known, view);
  return { state, outputs: visible ? [emitOpen(step, view, 'update')] : [] };
}

/** Whether an answer has begun without content. */
function isEmptyStart(known: OpenView, { answer }: View): boolean {
  if (!answer || known.view.answer) return false;
  return answer.endedAt === undefined && !hasContent(answer);
}
