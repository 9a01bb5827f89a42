/** What a turn's end is to the client that asked for it. */
import {
  RequestError,
  type PromptResponse,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import type { ErrorObject, Response } from '@liminal/protocol';
import { diagnosis } from './meta.ts';

const stopReasons: ReadonlySet<string> = new Set<StopReason>([
  'end_turn',
  'max_tokens',
  'max_turn_requests',
  'refusal',
  'cancelled',
]);

/** JSON-RPC's code for an error of ours or the agent's. */
const internal = -32_603;

/**
 * The answer to a prompt. A turn that the watchdog ended has a stop reason (seed 004); every other error is thrown, as a
 * RequestError with our code in its data.
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
  const stopReason = status === 'aborted' ? 'cancelled' : stopReasonOf(finishReason);
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

function stopReasonOf(finishReason: string | null): StopReason {
  const known = finishReason !== null && stopReasons.has(finishReason);
  return known ? (finishReason as StopReason) : 'end_turn';
}

function turnError(error: ErrorObject | undefined): RequestError {
  const { code, message } = error ?? { code: 'TURN_FAILED', message: 'The turn failed.' };
  return new RequestError(internal, message, diagnosis({ ...error, code, message }));
}
