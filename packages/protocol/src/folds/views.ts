/** The views of a turn: one view for each item, except that a call and its answer share one view with the call's id. */
import type { ErrorObject, OutputItem } from '../items.ts';
import type { Response } from '../response.ts';
import { hasContent } from './item-text.ts';
import { isAnswer, isCall, pairAnswers, type AnswerItem } from './pair-answers.ts';

export interface View {
  readonly item: OutputItem;
  /** The call's answer. */
  readonly answer?: AnswerItem;
}

/** Returns the progress of a view in a turn with this status. */
export type Progress =
  | { status: 'open' }
  | { status: 'complete' }
  | { status: 'error'; error: ErrorObject };

type TurnStatus = Pick<Response, 'status' | 'error'>;

/** Returns the views in order of start. An answer without a call is a view of its own (TC-3.3g). */
export function viewsOf(items: readonly OutputItem[]): View[] {
  const pairs = pairAnswers(items);
  const answers = new Map<string, AnswerItem>();
  for (const item of items) {
    const call = pairs.get(item.id);
    if (call !== undefined && isAnswer(item)) answers.set(call, item);
  }
  const views: View[] = [];
  for (const item of items) {
    const answer = answers.get(item.id);
    if (!pairs.has(item.id)) views.push(answer ? { item, answer } : { item });
  }
  return views;
}

/**
 * Returns whether a view is open. A call's view is open until both the call and its answer have ended. An item that is
 * still open at the end of its turn ends with the turn. A call without an answer is complete only if the turn is
 * complete.
 */
export function progressOf(view: View, turn: TurnStatus): Progress {
  const { item, answer } = view;
  const isTurnOver = turn.status !== 'in_progress' && turn.status !== 'queued';
  const ended = viewEndedAt(view) !== undefined;
  if (item.error) return { status: 'error', error: item.error };
  if (!ended && !isTurnOver) return { status: 'open' };
  if (item.type === 'error') return { status: 'error', error: item };
  if (answer?.error) return { status: 'error', error: answer.error };
  if (ended || item.type === 'approval') return { status: 'complete' };
  if (turn.status === 'error') return { status: 'error', error: turn.error ?? failed };
  if (turn.status === 'aborted' && isCall(item)) return { status: 'error', error: cancelled };
  return { status: 'complete' };
}

/**
 * Returns the time at which a view ended by itself (ISO 8601 UTC). A call ends when both the call and its answer have
 * ended, or when the call fails.
 */
export function viewEndedAt({ item, answer }: View): string | undefined {
  if (!isCall(item) || item.error || item.endedAt === undefined) return item.endedAt;
  if (answer?.endedAt === undefined) return undefined;
  return answer.endedAt > item.endedAt ? answer.endedAt : item.endedAt;
}

const failed: ErrorObject = {
  code: 'TURN_FAILED',
  message: 'The turn failed before this was complete.',
};
const cancelled: ErrorObject = {
  code: 'CANCELLED',
  message: 'The turn was cancelled before this tool answered.',
};

/**
 * Returns whether readers see a view. User messages without a delivery, errors, and answers without a call are held
 * until they are complete. An empty text is shown only if the source reported the end of its item (TC-5.4c).
 */
export function isShown({ item }: View, progress: Progress): boolean {
  const open = progress.status === 'open';
  if (item.type === 'error' || isAnswer(item)) return !open;
  if (item.type !== 'message' && item.type !== 'reasoning') return true;
  if (item.type === 'message' && item.delivery !== undefined) return true;
  if (open && item.type === 'message' && item.origin === 'user') return false;
  return item.endedAt !== undefined || hasContent(item);
}
