/** Returns the outputs for a delta. */
import type { ItemDeltaPayload } from '../events.ts';
import type { FoldOutput } from '../upserts.ts';
import { emitOpen } from './emit.ts';
import { pairableIds } from './item-list.ts';
import { itemText } from './item-text.ts';
import { addText, crossedThresholds, isWorthShowing, resetPace } from './pace.ts';
import { isAnswer } from './pair-answers.ts';
import { openItem } from './response.ts';
import { type FoldResult, type OpenView, type FoldStep, withView } from './upsert-state.ts';
import { isShown } from './views.ts';

export interface Growth {
  /** The id of the item whose text grows: either the shown item, or the answer that is shown with it. */
  itemId: string;
  text: string;
  /** Whether fields other than the text have changed as well. */
  patched: boolean;
}

/**
 * Returns the step of an `item_delta`. The cost of a step depends on the delta, not on the size of the item or the
 * turn.
 */
export function growView(step: FoldStep, payload: ItemDeltaPayload): FoldResult {
  const { itemId, deltaContent: text, patch } = payload;
  const own = step.state.open.get(itemId);
  const isText = own?.view.item.type === 'message' || own?.view.item.type === 'reasoning';
  // A text that subscribers have seen grows by appends.
  if (isText && own.emitted && patch === undefined && step.state.config.appends) {
    return { state: step.state, outputs: text === '' ? [] : [appendOutput(step, itemId, text)] };
  }
  const known = own ?? findByAnswer(step, itemId);
  if (!known) return { state: step.state, outputs: [] };
  const grown = grow(step, refresh(step, known), { itemId, text, patched: patch !== undefined });
  return { state: withView(step.state, grown.next), outputs: grown.outputs };
}

/**
 * Returns the output for text that the item in the Response already contains at its end. The view keeps its older text
 * until it is shown.
 */
function appendOutput({ head, state }: FoldStep, itemId: string, text: string): FoldOutput {
  const length = state.response.open.get(itemId)?.text.length ?? text.length;
  return { kind: 'append', turnId: head.turnId, itemId, at: length - text.length, text };
}

/** The view of the call to which an open item is the answer. */
function findByAnswer({ state }: FoldStep, itemId: string): OpenView | undefined {
  const kin = pairableIds(state.response.items, itemId).map((id) => state.open.get(id));
  return kin.find((known) => known?.view.answer?.id === itemId);
}

function refresh({ state, timestamp }: FoldStep, known: OpenView): OpenView {
  const { item, answer } = known.view;
  const current = openItem(state.response, item.id) ?? item;
  const currentAnswer = answer && (openItem(state.response, answer.id) ?? answer);
  const view = {
    item: current,
    ...(currentAnswer && isAnswer(currentAnswer) && { answer: currentAnswer }),
  };
  return { ...known, view, changedAt: timestamp };
}

interface Grown {
  next: OpenView;
  outputs: FoldOutput[];
}

function grow(step: FoldStep, known: OpenView, growth: Growth): Grown {
  switch (known.view.item.type) {
    case 'message':
    case 'reasoning':
      return growText(step, known, growth);
    case 'plan':
    case 'file_changes':
      return showAgain(step, known, growth.patched);
    case 'function_call':
    case 'script_execution':
      return growCall(step, known, growth);
    case 'function_call_output':
    case 'script_execution_output':
    case 'error':
    case 'approval':
      return { next: known, outputs: [] };
  }
}

/** Returns the step of a view whose text grows, either by a delta or because an answer starts. */
export function growText(step: FoldStep, known: OpenView, growth: Growth): Grown {
  const { config } = step.state;
  if (growth.text === '' && !growth.patched) return { next: known, outputs: [] };
  if (!isShown(known.view, { status: 'open' })) return { next: known, outputs: [] };
  if (config.appends) return appendText(step, known, growth);
  const counted = addText(known.pace, growth.text, config.tokenCounter);
  const pace = { ...counted, flushAt: step.now + config.batchTimeoutMs };
  const { length } = itemText(known.view.item);
  const isDue = isWorthShowing(pace, length);
  const crossed = isDue ? crossedThresholds(pace, config.batchGradientTokens) : 0;
  if (crossed > 0) {
    const { next, outputs } = show(step, known);
    return { next: { ...next, pace: resetPace(pace, crossed, length) }, outputs };
  }
  if (!known.emitted && config.firstEmission === 'immediate') {
    return show(step, { ...known, pace });
  }
  return { next: { ...known, pace }, outputs: [] };
}

function appendText(step: FoldStep, known: OpenView, { text, patched }: Growth): Grown {
  const { item } = known.view;
  if (!known.emitted || patched) return show(step, known);
  return append(step, known, itemText(item).length - text.length, text);
}

/** Shows a call when its arguments are whole; with `appends`, also shows each patch and output when it arrives. */
function growCall(step: FoldStep, known: OpenView, { itemId, text, patched }: Growth): Grown {
  const { item, answer } = known.view;
  const outputGrew = itemId !== item.id && text !== '';
  if (!step.state.config.appends || !(patched || outputGrew)) return { next: known, outputs: [] };
  const before = answer === undefined ? 0 : itemText(answer).length - text.length;
  // Output that arrived before the patch has already been shown, together with the call's other changes.
  if (patched || before === 0) return show(step, known);
  return append(step, known, before, text);
}

function append({ head }: FoldStep, known: OpenView, at: number, text: string): Grown {
  const { turnId } = head;
  const { id: itemId } = known.view.item;
  return { next: known, outputs: [{ kind: 'append', turnId, itemId, at, text }] };
}

function showAgain(step: FoldStep, known: OpenView, visible: boolean): Grown {
  return visible ? show(step, known) : { next: known, outputs: [] };
}

function show(step: FoldStep, known: OpenView): Grown {
  const output = emitOpen(step, known.view, known.emitted ? 'update' : 'create');
  return { next: { ...known, emitted: true }, outputs: [output] };
}
