/** Translates Claude Code's `result` to the turn's end. */
import type { ErrorObject, Usage } from '@liminal/protocol';
import type { TurnEnd } from '../../../base/turn-writer.ts';
import type { ModelUsage, NativeUsage, ResultMessage } from './native.ts';

export interface TurnFacts {
  /** Claude Code's name for the API error that occurred in the turn; undefined if none occurred. */
  errorCategory: string | undefined;
  /** The usage of the model's last answer. From this usage, the present size of the context follows. */
  lastUsage: NativeUsage | undefined;
  modelId: string;
  /** The session's cost so far, in US dollars. */
  costUsd: number | undefined;
}

const codesByStatus: Record<number, string> = {
  400: 'INVALID_REQUEST',
  401: 'AUTHENTICATION_FAILED',
  403: 'PERMISSION_DENIED',
  429: 'RATE_LIMITED',
  529: 'OVERLOADED',
};

const codesByCategory: Record<string, string> = {
  authentication_failed: 'AUTHENTICATION_FAILED',
  oauth_org_not_allowed: 'AUTHENTICATION_FAILED',
  account_on_hold: 'AUTHENTICATION_FAILED',
  verification_required: 'AUTHENTICATION_FAILED',
  cloud_credential_error: 'AUTHENTICATION_FAILED',
  billing_error: 'BILLING_ERROR',
  rate_limit: 'RATE_LIMITED',
  overloaded: 'OVERLOADED',
  model_not_found: 'MODEL_NOT_FOUND',
};

const codesBySubtype: Record<string, string> = {
  error_max_budget_usd: 'BUDGET_EXHAUSTED',
};

/**
 * Returns whether Claude Code stopped at its step limit. A turn that stopped at the limit counts as complete, as with
 * ACP agents, and the next turn continues the work.
 */
export const hasReachedLimit = ({ subtype }: ResultMessage): boolean =>
  subtype === 'error_max_turns';

/**
 * Returns the terminal event of a turn. Claude Code also reports an interrupted turn as an error; `terminal_reason`
 * shows the difference.
 */
export function readOutcome(result: ResultMessage, facts: TurnFacts): TurnEnd {
  const usage = readUsage(result, facts);
  if (result.terminal_reason?.startsWith('aborted_') === true) {
    return { type: 'response_done', status: 'cancelled', finishReason: 'cancelled', usage };
  }
  if (hasReachedLimit(result)) {
    return { type: 'response_done', status: 'completed', finishReason: 'max_turn_requests', usage };
  }
  if (result.is_error) return { type: 'response_error', error: readError(result, facts), usage };
  const finishReason = result.stop_reason ?? null;
  return { type: 'response_done', status: 'completed', finishReason, usage };
}

function readError(result: ResultMessage, { errorCategory }: TurnFacts): ErrorObject {
  const status = result.api_error_status ?? undefined;
  const message = result.result ?? result.errors?.join('\n') ?? '';
  const code =
    (status === undefined ? undefined : codesByStatus[status]) ??
    (result.api_error === 'connection_failed' ? 'CONNECTION_LOST' : undefined) ??
    (errorCategory === undefined ? undefined : wordIn(codesByCategory, errorCategory)) ??
    (status === undefined ? undefined : `API_ERROR_${status}`) ??
    wordIn(codesBySubtype, result.subtype) ??
    'AGENT_ERROR';
  return { code, message: message === '' ? 'Claude Code reported an error.' : forPage(message) };
}

/** Returns the word for the key. Looks up only own properties, because every object inherits further properties. */
const wordIn = (table: Record<string, string>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Replaces Claude Code's advice to use a sign-in command, because that command works only in a terminal. */
const forPage = (message: string): string =>
  message.replace(
    / {0,3}· {0,3}Please run \/login\b\.?/,
    '. Run claude in a terminal and sign in, or set ANTHROPIC_API_KEY before starting Liminal.',
  );

function readUsage(result: ResultMessage, { lastUsage, modelId, costUsd }: TurnFacts): Usage {
  const context =
    lastUsage === undefined ? 0 : totalInput(lastUsage) + (lastUsage.output_tokens ?? 0);
  const contextWindow = result.modelUsage?.[modelId]?.contextWindow;
  return {
    ...countTokens(result),
    ...(costUsd !== undefined && { costUsd }),
    ...(context > 0 && { contextTokens: context }),
    ...(contextWindow !== undefined && { contextWindow }),
  };
}

/**
 * Returns the usage of all model calls of the turn, including subagents', if Claude Code reports it; otherwise the
 * usage of the main agent's calls.
 */
function countTokens({ model_usage_since_last_result: turn, usage }: ResultMessage): Usage {
  if (turn === undefined) {
    return {
      inputTokens: usage == null ? 0 : totalInput(usage),
      outputTokens: usage?.output_tokens ?? 0,
      cacheReadInputTokens: usage?.cache_read_input_tokens ?? 0,
      cacheCreationInputTokens: usage?.cache_creation_input_tokens ?? 0,
    };
  }
  const sum = (count: (model: ModelUsage) => number): number =>
    Object.values(turn).reduce((total, model) => total + count(model), 0);
  return {
    inputTokens: sum(
      ({ inputTokens, cacheReadInputTokens, cacheCreationInputTokens }) =>
        inputTokens + cacheReadInputTokens + cacheCreationInputTokens,
    ),
    outputTokens: sum((model) => model.outputTokens),
    cacheReadInputTokens: sum((model) => model.cacheReadInputTokens),
    cacheCreationInputTokens: sum((model) => model.cacheCreationInputTokens),
  };
}

/** Returns the total input tokens: Claude Code counts tokens that were read from or written to the cache separately. */
const totalInput = (usage: NativeUsage): number =>
  (usage.input_tokens ?? 0) +
  (usage.cache_read_input_tokens ?? 0) +
  (usage.cache_creation_input_tokens ?? 0);
