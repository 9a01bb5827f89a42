/** What an item's start or end, or a turn's end, makes visible. Costs O(items), like the events themselves in a Response. */
import type { FoldOutput } from '../upserts.ts';
import { emitLast, emitOpen } from './emit.ts';
import { growText } from './grow-view.ts';
import { hasContent, textOf } from './item-text.ts';
import { startPace } from './pace.ts';
import { currentItems } from './response.ts';
import type { FoldResult, OpenView, Step, UpsertFoldState } from './upsert-state.ts';
import { isShown, standingOf, viewsOf, type View } from './views.ts';

/** `itemId` is the item that the step is about; undefined when it is the turn. */
export function reviseViews(step: Step, itemId: string | undefined): FoldResult {
  const views = viewsOf(currentItems(step.state.response));
  let { state, outputs } = discardMissing(step, views);
  for (const view of views) {
    if (state.finished.has(view.item.id)) continue;
    const revised = reviseView({ ...step, state }, view, itemId);
    state = revised.state;
    outputs = [...outputs, ...revised.outputs];
  }
  return { state, outputs };
}

/** A view goes when its item is withdrawn, or turns out to be the answer to a call. */
function discardMissing({ state, head }: Step, views: View[]): FoldResult {
  const present = new Set(views.map(({ item }) => item.id));
  const gone = [...state.open.keys(), ...state.finished].filter((id) => !present.has(id));
  if (gone.length === 0) return { state, outputs: [] };
  const shown = gone.filter((id) => state.open.get(id)?.emitted ?? true);
  const open = new Map([...state.open].filter(([id]) => present.has(id)));
  const finished = new Set([...state.finished].filter((id) => present.has(id)));
  const { turnId } = head;
  const outputs = shown.map((itemId): FoldOutput => ({ kind: 'discard', turnId, itemId }));
  return { state: { ...state, open, finished }, outputs };
}

function reviseView(step: Step, view: View, itemId: string | undefined): FoldResult {
  const known = step.state.open.get(view.item.id);
  const standing = standingOf(view, step.head);
  if (standing.status === 'open') {
    if (!known) return beginView(step, view);
    return concerns(known, view, itemId) ? continueView(step, known, view) : unchanged(step);
  }
  const shown = known?.emitted === true;
  const state = finish(step.state, view.item.id);
  if (!shown && !isShown(view, standing)) return { state, outputs: [] };
  return { state, outputs: emitLast(step, view, standing, shown) };
}

function concerns(known: OpenView, view: View, itemId: string | undefined): boolean {
  return [view.item.id, view.answer?.id, known.view.answer?.id].includes(itemId);
}

function unchanged({ state }: Step): FoldResult {
  return { state, outputs: [] };
}

function beginView(step: Step, view: View): FoldResult {
  const fresh = { view, emitted: false, pace: startPace, changedAt: step.timestamp };
  const { item } = view;
  if (item.type === 'message' || item.type === 'reasoning') {
    const growth = { itemId: item.id, text: textOf(item), patched: false };
    const { next, outputs } = growText(step, fresh, growth);
    return { state: keep(step.state, next), outputs };
  }
  if (!isShown(view, { status: 'open' })) return { state: keep(step.state, fresh), outputs: [] };
  const state = keep(step.state, { ...fresh, emitted: true });
  return { state, outputs: [emitOpen(step, view, 'create')] };
}

/** A call goes on: its arguments are whole, or its answer has begun, ended before it or been withdrawn. */
function continueView(step: Step, known: OpenView, view: View): FoldResult {
  const state = keep(step.state, { ...known, view, changedAt: step.timestamp });
  const visible = known.emitted && step.state.config.appends && !isEmptyStart(known, view);
  return { state, outputs: visible ? [emitOpen(step, view, 'update')] : [] };
}

/** An answer that has begun and says nothing yet. */
function isEmptyStart(known: OpenView, { answer }: View): boolean {
  if (!answer || known.view.answer) return false;
  return answer.endedAt === undefined && !hasContent(answer);
}

function keep(state: UpsertFoldState, view: OpenView): UpsertFoldState {
  return { ...state, open: new Map(state.open).set(view.view.item.id, view) };
}

function finish(state: UpsertFoldState, id: string): UpsertFoldState {
  const open = new Map(state.open);
  open.delete(id);
  return { ...state, open, finished: new Set(state.finished).add(id) };
}
