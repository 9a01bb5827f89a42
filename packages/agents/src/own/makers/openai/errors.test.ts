import { expect, test } from 'vitest';
import { errorOfComplaint, lacksEndpoint, readComplaint } from './errors.ts';

const openAi = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
});

const errorOf = (status: number | undefined, body: unknown, headers: Record<string, string> = {}) =>
  errorOfComplaint(readComplaint(body, status), { headers: new Headers(headers) });

test.each([
  ['RATE_LIMIT', true, 429, openAi('Slow down', { code: 'rate_limit_exceeded' })],
  ['RATE_LIMIT', true, undefined, { code: 'rate_limit_exceeded', message: 'Slow down' }],
  [
    'RATE_LIMIT',
    false,
    429,
    openAi('Pay', { type: 'insufficient_quota', code: 'insufficient_quota' }),
  ],
  ['CONTENT_FILTER', false, 400, openAi('Filtered', { code: 'content_filter' })],
  ['CONTENT_FILTER', false, 400, openAi('Flagged', { code: 'invalid_prompt' })],
  ['CONTEXT_LENGTH', false, 400, openAi('Long', { code: 'context_length_exceeded' })],
  // vLLM, older and newer.
  [
    'CONTEXT_LENGTH',
    false,
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      type: 'BadRequestError',
      code: 400,
    },
  ],
  [
    'CONTEXT_LENGTH',
    false,
    400,
    openAi('The decoder prompt (length 5000) is longer than the maximum model length of 4096.'),
  ],
  // llama.cpp
  [
    'CONTEXT_LENGTH',
    false,
    400,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
      },
    },
  ],
  // Ollama
  ['CONTEXT_LENGTH', false, 500, { error: 'the input length exceeds the context length' }],
  ['CONTEXT_LENGTH', false, 400, { error: 'prompt too long; exceeded max context length by 9' }],
  ['AUTHENTICATION', false, 401, openAi('Incorrect API key', { code: 'invalid_api_key' })],
  ['AUTHENTICATION', false, 403, 'Forbidden'],
  [
    'MODEL_NOT_FOUND',
    false,
    404,
    openAi('The model `x` does not exist', { code: 'model_not_found' }),
  ],
  [
    'MODEL_NOT_FOUND',
    false,
    404,
    { error: { message: 'model "x" not found, try pulling it first' } },
  ],
  ['MODEL_UNAVAILABLE', true, 503, { error: { code: 503, message: 'Loading model' } }],
  ['MODEL_UNAVAILABLE', true, 502, '<html><h1>Bad Gateway</h1></html>'],
  ['MODEL_UNAVAILABLE', true, undefined, { code: 'server_error', message: 'Broken' }],
  ['MODEL_ERROR', false, 404, { detail: 'Not Found' }],
  ['NO_TOOLS', false, 400, { error: 'gemma does not support tools' }],
  [
    'NO_TOOLS',
    false,
    400,
    { error: { message: '"auto" tool choice requires --enable-auto-tool-choice to be set' } },
  ],
  ['NO_TOOLS', false, 404, { error: { message: 'No endpoints found that support tool use.' } }],
] as const)(
  '%s (temporary: %j) is the code for status %j with %j',
  (code, isPassing, status, body) => {
    expect(errorOf(status, body)).toMatchObject({ code, isPassing, details: { body } });
  },
);

test('the error’s text is a sentence that contains the server’s message and says what to do', () => {
  expect(errorOf(404, { error: 'model "x" not found' }).message).toBe(
    'The server does not have this model: model "x" not found. Choose a model that it lists.',
  );
  expect(errorOf(502, '<html><h1>Bad Gateway</h1></html>').message).toBe(
    'The model’s server cannot answer at the moment: status 502.',
  );
  expect(errorOf(422, { detail: [{ loc: ['body', 'x'] }] }).message).toBe(
    'The model’s server rejected the request: [{"loc":["body","x"]}].',
  );
});

test('only the beginning of a long error page is shown', () => {
  const { message, details } = errorOf(400, 'x'.repeat(1_000_000));
  expect(message.length).toBeLessThan(3_000);
  expect(JSON.stringify(details).length).toBeLessThan(3_000);
});

test.each([
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': '2', 'retry-after-ms': '150' }, 150],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('the headers %j ask for a delay of %j ms', (headers, ms) => {
  expect(errorOf(429, openAi('Slow down'), headers).retryAfterMs).toBe(ms);
});

test('a date in the retry header is converted to a delay', () => {
  const soon = new Date(Date.now() + 60_000).toUTCString();
  const { retryAfterMs } = errorOf(429, openAi('Slow down'), { 'retry-after': soon });
  expect(retryAfterMs).toBeGreaterThan(50_000);
  expect(retryAfterMs).toBeLessThanOrEqual(60_000);
});

test.each([
  [true, 404, '404 page not found'],
  [true, 404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }],
  [true, 405, { detail: 'Method Not Allowed' }],
  [true, 501, ''],
  [true, 400, openAi('Unknown endpoint: /v1/responses')],
  [true, 200, { error: 'Unexpected endpoint or method. (POST /v1/responses)' }],
  [false, 404, openAi('The model `x` does not exist', { code: 'model_not_found' })],
  [false, 404, { error: 'model "x" not found' }],
  [false, 400, openAi('Unknown parameter: store')],
  [false, 401, openAi('Unknown endpoint')],
  [false, 500, 'Broken'],
])(
  'whether an endpoint counts as missing is %j for the status %j with %j',
  (isLacking, status, body) => {
    expect(lacksEndpoint(readComplaint(body, status))).toBe(isLacking);
  },
);
