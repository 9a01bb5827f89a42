/** What a run's writer says of items that are still open when the run ends (invariant 3). */
import type { EventPayload } from '../events.ts';
import type { ErrorObject, OutputItem } from '../items.ts';
import { hasContent } from './item-text.ts';
import { currentItems, type ResponseState } from './response.ts';

export interface Closing {
  /** How the run is about to end. */
  status: 'completed' | 'cancelled' | 'error';
  /** With status `error`: why. */
  error?: ErrorObject;
}

/**
 * The payloads to log before a run's terminal event, in the order in which the items began. What has content is kept:
 * as done, or with the run's error. Messages, reasoning and outputs without any are withdrawn; an approval ends as cancelled.
 */
export function closeOpenItems(state: ResponseState, closing: Closing): EventPayload[] {
  return currentItems(state, state.open.keys()).map((item) => closeItem(item, closing));
}

function closeItem(item: OutputItem, { status, error }: Closing): EventPayload {
  const itemId = item.id;
  if (item.type === 'approval') {
    const outcome = { outcome: 'cancelled' } as const;
    return { type: 'item_done', itemId, finalItem: { ...item, outcome } };
  }
  if (canBeEmpty(item) && !hasContent(item)) {
    return { type: 'item_cancelled', itemId, reason: 'the turn ended before it had content' };
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

/** An output that was cut off is no success. */
function finalItem(item: OutputItem, status: 'completed' | 'cancelled'): OutputItem {
  return status === 'cancelled' && 'success' in item ? { ...item, success: false } : item;
}
