/** Converts the end of a turn to the response to the prompt that began the turn. */
import {
  RequestError,
  type PromptResponse,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import type { ErrorObject, Response } from '@liminal/protocol';
import { diagnosis } from './meta.ts';

/**
 * The stop reason for each finish reason of agents and model providers. All finish reasons that are not in this table
 * become `end_turn`.
 */
const stopReasons: ReadonlyMap<string | null, StopReason> = new Map([
  ['max_tokens', 'max_tokens'],
  ['max_output_tokens', 'max_tokens'],
  ['length', 'max_tokens'],
  ['model_length', 'max_tokens'],
  ['model_context_window_exceeded', 'max_tokens'],
  ['max_turn_requests', 'max_turn_requests'],
  ['refusal', 'refusal'],
  ['content_filter', 'refusal'],
  ['safety', 'refusal'],
  ['cancelled', 'cancelled'],
]);

/** The JSON-RPC code for an error of Liminal or the agent. */
const internal = -32_603;

/**
 * Returns the response to a prompt. If the watchdog ended the turn, the response is a stop reason (seed 004). Every
 * other error is thrown as a RequestError with Liminal's code in its data.
 */
export function promptEnd({
  status,
  finishReason,
  error,
  usage,
}: Pick<Response, 'status' | 'finishReason' | 'error' | 'usage'>): PromptResponse {
  if (error?.code === 'IDLE_TIMEOUT') {
    return { stopReason: 'cancelled', _meta: { liminal: { error: diagnosis(error) } } };
  }
  if (error !== undefined || status === 'error') throw turnError(error);
  const ended = stopReasons.get(finishReason) ?? 'end_turn';
  const stopReason = status === 'aborted' ? 'cancelled' : ended;
  if (usage === undefined) return { stopReason };
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens } = usage;
  const counted = {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...(cacheReadInputTokens !== undefined && { cachedReadTokens: cacheReadInputTokens }),
    ...(cacheCreationInputTokens !== undefined && { cachedWriteTokens: cacheCreationInputTokens }),
  };
  return { stopReason, usage: counted };
}

function turnError(error: ErrorObject | undefined): RequestError {
  const { code, message } = error ?? { code: 'TURN_FAILED', message: 'The turn failed.' };
  return new RequestError(internal, message, diagnosis({ ...error, code, message }));
}
