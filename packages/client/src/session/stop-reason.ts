import { isServerTurn } from '@liminal/protocol';
import type { TurnView } from './view.ts';

const tooLong = 'Stopped: the answer reached its length limit';

/** The sentences for people, by `finishReason`. A normal end has no sentence. */
const sentences: Record<string, string | undefined> = {
  end_turn: undefined,
  stop: undefined,
  completed: undefined,
  // For this end, the turn already contains a message.
  notified: undefined,
  stop_sequence: undefined,
  max_tokens: tooLong,
  length: tooLong,
  max_output_tokens: tooLong,
  content_filter: 'Stopped: the model’s server filtered the answer',
  max_turn_requests: 'Stopped: the agent reached its limit of steps in one turn',
  model_context_window_exceeded: 'Stopped: the conversation no longer fits into the model',
  refusal: 'Stopped: the model refused to continue',
};

/**
 * Returns why a turn is incomplete although nobody stopped it, as a sentence for people. A reason that is not known is
 * returned unchanged.
 */
export function stopReason(turn: TurnView): string | undefined {
  const { status, finishReason } = turn;
  // A turn of the server contains a message about its event.
  if (status !== 'complete' || finishReason === undefined || isServerTurn(turn)) return undefined;
  if (Object.hasOwn(sentences, finishReason)) return sentences[finishReason];
  return `Stopped: ${finishReason}`;
}
