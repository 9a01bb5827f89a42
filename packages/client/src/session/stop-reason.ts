import type { TurnView } from './view.ts';

const tooLong = 'Stopped: the answer reached its length limit';

/** By `finishReason`; a normal end has no sentence. */
const sentences: Record<string, string | undefined> = {
  end_turn: undefined,
  stop: undefined,
  stop_sequence: undefined,
  // It says itself what was done.
  rewind: undefined,
  max_tokens: tooLong,
  length: tooLong,
  max_turn_requests: 'Stopped: the agent reached its limit of steps in one turn',
  model_context_window_exceeded: 'Stopped: the conversation no longer fits into the model',
  refusal: 'Stopped: the model refused to go on',
};

/** Why a turn that nobody stopped is incomplete, for people; unknown reasons are shown as they are. */
export function stopReason({ status, finishReason }: TurnView): string | undefined {
  if (status !== 'complete' || finishReason === undefined) return undefined;
  if (Object.hasOwn(sentences, finishReason)) return sentences[finishReason];
  return `Stopped: ${finishReason}`;
}
