/** The ends of items that are still open when their turn ends (invariant 3). */
import type { EventPayload } from '../events.ts';
import type { ErrorObject, OutputItem } from '../items.ts';
import { hasContent } from './item-text.ts';
import { currentItems, type ResponseState } from './response.ts';

export interface Closing {
  /** The status with which the turn is about to end. */
  status: 'completed' | 'cancelled' | 'error';
  /** With status `error`: the error with which the turn failed. */
  error?: ErrorObject | undefined;
}

/** Returns the status with which a turn ends after this payload; `completed` for a payload that is not terminal. */
export function closingOf(payload: EventPayload): Closing {
  if (payload.type === 'response_error') return { status: 'error', error: payload.error };
  if (payload.type !== 'response_done') return { status: 'completed' };
  return { status: payload.status, error: payload.error };
}

/** Returns the payloads to log before a run's terminal event, in the order in which the items started. */
export function closeOpenItems(state: ResponseState, closing: Closing): EventPayload[] {
  return currentItems(state, state.open.keys()).map((item) => closeItem(item, closing));
}

/**
 * Returns the event that ends one open item. An item with content ends as done, or with the turn's error. Messages,
 * reasoning and outputs without content are withdrawn. A plan and file changes stay as they are, an approval ends as
 * cancelled, and a message that a person sent into the turn ends as not taken.
 */
export function closeItem(item: OutputItem, { status, error }: Closing): EventPayload {
  const itemId = item.id;
  if (item.type === 'approval') {
    const outcome = { outcome: 'cancelled', reason: 'turn_ended' } as const;
    return { type: 'item_done', itemId, finalItem: { ...item, outcome } };
  }
  if (item.type === 'message' && item.delivery !== undefined) {
    return { type: 'item_done', itemId, finalItem: { ...item, delivery: 'not_taken' } };
  }
  if (item.type === 'plan' || item.type === 'file_changes') {
    return { type: 'item_done', itemId, finalItem: item };
  }
  if (canBeEmpty(item) && !hasContent(item)) {
    return { type: 'item_cancelled', itemId, reason: 'empty' };
  }
  if (status === 'error') return { type: 'item_error', itemId, error: error ?? unknownError };
  return { type: 'item_done', itemId, finalItem: finalItem(item, status) };
}

const unknownError: ErrorObject = {
  code: 'TURN_FAILED',
  message: 'The turn failed before this was complete.',
};

function canBeEmpty(item: OutputItem): boolean {
  return ['message', 'reasoning', 'function_call_output', 'script_execution_output'].includes(
    item.type,
  );
}

/** Returns the item with the fields that it has at its end. An output that was cut off does not count as successful. */
function finalItem(item: OutputItem, status: 'completed' | 'cancelled'): OutputItem {
  return status === 'cancelled' && 'success' in item ? { ...item, success: false } : item;
}
