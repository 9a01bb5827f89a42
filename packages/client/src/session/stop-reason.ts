import { isServerTurn } from '@liminal/protocol';
import type { TurnView } from './view.ts';

const tooLong = 'Stopped: the answer reached its length limit';

/** The sentences by `finishReason`; a normal end has none. */
const sentences: Record<string, string | undefined> = {
  end_turn: undefined,
  stop: undefined,
  completed: undefined,
  // A message in the turn reports this end.
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

/** Why a turn is incomplete although nobody stopped it, for people; unknown reasons are shown unchanged. */
export function stopReason(turn: TurnView): string | undefined {
  const { status, finishReason } = turn;
  // A turn of the server has a message that reports its event.
  if (status !== 'complete' || finishReason === undefined || isServerTurn(turn)) return undefined;
  if (Object.hasOwn(sentences, finishReason)) return sentences[finishReason];
  return `Stopped: ${finishReason}`;
}
