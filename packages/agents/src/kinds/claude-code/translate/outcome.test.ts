import { expect, test } from 'vitest';
import type { ResultMessage } from './native.ts';
import { readOutcome, type TurnFacts } from './outcome.ts';

const facts: TurnFacts = {
  errorCategory: undefined,
  lastUsage: undefined,
  modelId: 'model-1',
  costUsd: undefined,
};
const success: ResultMessage = { type: 'result', subtype: 'success', is_error: false };
const failure: ResultMessage = { type: 'result', subtype: 'error', is_error: true };
const nothing = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
};

function errorOf(result: Partial<ResultMessage>, known: Partial<TurnFacts> = {}) {
  const outcome = readOutcome({ ...failure, ...result }, { ...facts, ...known });
  return outcome.type === 'response_error' ? outcome.error : undefined;
}

test.each([
  [400, 'INVALID_REQUEST'],
  [401, 'AUTHENTICATION_FAILED'],
  [403, 'PERMISSION_DENIED'],
  [418, 'API_ERROR_418'],
  [429, 'RATE_LIMITED'],
  [529, 'OVERLOADED'],
])('an API error with the status %d has the code %s', (api_error_status, code) => {
  expect(errorOf({ api_error_status })).toMatchObject({ code });
});

test.each([
  ['authentication_failed', 'AUTHENTICATION_FAILED'],
  ['oauth_org_not_allowed', 'AUTHENTICATION_FAILED'],
  ['account_on_hold', 'AUTHENTICATION_FAILED'],
  ['verification_required', 'AUTHENTICATION_FAILED'],
  ['cloud_credential_error', 'AUTHENTICATION_FAILED'],
  ['billing_error', 'BILLING_ERROR'],
  ['rate_limit', 'RATE_LIMITED'],
  ['overloaded', 'OVERLOADED'],
  ['model_not_found', 'MODEL_NOT_FOUND'],
  ['of_tomorrow', 'AGENT_ERROR'],
])('an error with Claude Code’s category %s has the code %s', (errorCategory, code) => {
  expect(errorOf({}, { errorCategory })).toMatchObject({ code });
});

test('a known status takes precedence over the error’s category, and the category over an unknown status', () => {
  const category = { errorCategory: 'rate_limit' };
  expect(errorOf({ api_error_status: 529 }, category)).toMatchObject({ code: 'OVERLOADED' });
  expect(errorOf({ api_error_status: 418 }, category)).toMatchObject({ code: 'RATE_LIMITED' });
  const lost = { api_error: 'connection_failed' };
  expect(errorOf(lost, category)).toMatchObject({ code: 'CONNECTION_LOST' });
});

test('an exhausted budget has its own code', () => {
  expect(errorOf({ subtype: 'error_max_budget_usd' })).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
});

test.each([
  [{ result: 'All of it.', errors: ['a'] }, 'All of it.'],
  [{ errors: ['One.', 'Two.'] }, 'One.\nTwo.'],
  [{ result: '' }, 'Claude Code reported an error.'],
  [{}, 'Claude Code reported an error.'],
])('the error of the result %j contains the result’s message', (result, message) => {
  expect(errorOf(result)?.message).toBe(message);
});

test.each(['Invalid API key · Please run /login', 'Invalid API key  ·  Please run /login.'])(
  'advice to run a terminal command is replaced by useful advice: %s',
  (result) => {
    expect(errorOf({ result })?.message).toBe(
      'Invalid API key. Run claude in a terminal and sign in, or set ANTHROPIC_API_KEY before starting Liminal.',
    );
  },
);

test('an interrupted turn is cancelled, even if it also reports an error', () => {
  const interrupted = { ...failure, terminal_reason: 'aborted_streaming', api_error_status: 529 };
  expect(readOutcome(interrupted, facts)).toEqual({
    type: 'response_done',
    status: 'cancelled',
    finishReason: 'cancelled',
    usage: nothing,
  });
  expect(readOutcome({ ...failure, terminal_reason: 'max_turns' }, facts).type).toBe(
    'response_error',
  );
});

test('a turn without a stop reason has no finish reason', () => {
  expect(readOutcome(success, facts)).toEqual({
    type: 'response_done',
    status: 'completed',
    finishReason: null,
    usage: nothing,
  });
});

const counted = {
  input_tokens: 1,
  output_tokens: 20,
  cache_read_input_tokens: 300,
  cache_creation_input_tokens: 4_000,
};

test('usage covers only the turn’s own calls if Claude Code does not report the total', () => {
  expect(readOutcome({ ...success, usage: counted }, facts).usage).toEqual({
    inputTokens: 4_301,
    outputTokens: 20,
    cacheReadInputTokens: 300,
    cacheCreationInputTokens: 4_000,
  });
});

test('usage covers all models, including subagents, if Claude Code reports their total', () => {
  const model = (count: number) => ({
    inputTokens: count,
    outputTokens: 10 * count,
    cacheReadInputTokens: 100 * count,
    cacheCreationInputTokens: 1_000 * count,
  });
  const since = { 'model-1': model(1), 'model-2': model(2) };
  const result = { ...success, usage: counted, model_usage_since_last_result: since };
  expect(readOutcome(result, facts).usage).toEqual({
    ...model(3),
    inputTokens: 3 + 300 + 3_000,
  });
});

test('the context size is the number of all tokens of the last answer', () => {
  const usageWith = (lastUsage: TurnFacts['lastUsage']) =>
    readOutcome(success, { ...facts, lastUsage }).usage;
  expect(usageWith(counted)).toMatchObject({ contextTokens: 4_321 });
  expect(usageWith({ output_tokens: 5 })).toMatchObject({ contextTokens: 5 });
  expect(usageWith({})).toEqual(nothing);
});

test('cost and context window are reported only if they are known', () => {
  const window = { contextWindow: 200_000 };
  const tokens = { ...nothing };
  const modelUsage = { 'model-1': { ...tokens, ...window }, 'model-2': { ...tokens } };
  const told = (modelId: string) =>
    readOutcome({ ...success, modelUsage }, { ...facts, modelId, costUsd: 0 }).usage;
  expect(told('model-1')).toEqual({ ...nothing, ...window, costUsd: 0 });
  expect(told('model-2')).toEqual({ ...nothing, costUsd: 0 });
});
