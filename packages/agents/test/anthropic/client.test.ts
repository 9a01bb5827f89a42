import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { EventDraft, OutputItem } from '@liminal/protocol';
import {
  apiError,
  cut,
  gate,
  given,
  held,
  type ModelEntry,
  pause,
  pixel,
  reply,
  type Script,
  startMessagesApi,
  streamError,
  text,
  thinking,
  toolUse,
} from '@liminal/testkit';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterEach, expect, test, vi } from 'vitest';
import { AnthropicClient } from '../../src/own/makers/anthropic/index.ts';
import { TurnWriter } from '../../src/base/turn-writer.ts';
import { AnswerWriter } from '../../src/own/loop/answer-writer.ts';
import type { ModelRequest } from '../../src/own/loop/model-client.ts';
import { ModelError } from '../../src/own/loop/model-error.ts';
import { foldTurn } from '../../src/testing/folding.ts';

const ended: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const end of ended.splice(0).reverse()) await end();
});

async function start(script: Script, models?: ModelEntry[], modelsPerPage?: number) {
  const api = await startMessagesApi({
    script,
    ...(models && { models }),
    ...(modelsPerPage && { modelsPerPage }),
  });
  ended.push(() => api.close());
  return { api, client: new AnthropicClient({ baseUrl: api.url, apiKey: 'sk-secret' }) };
}

const tools = [
  { name: 'read', description: 'Reads a file.', parameters: { type: 'object', properties: {} } },
];
const asks = (content: string): OutputItem => ({
  type: 'message',
  id: content,
  origin: 'user',
  content,
});
const requestOf = (conversation: OutputItem[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'claude-opus-5-5',
  instructions: 'Be brief.',
  conversation,
  tools,
  effort: 'high',
  ...more,
});

/** Returns a writer for answers; its items can be read at any time. */
function turn() {
  const drafts: EventDraft[] = [];
  const writer = new TurnWriter('turn', (draft) => drafts.push(draft));
  writer.at('2026-01-01T00:00:00.000Z');
  writer.begin({ modelId: 'm', providerId: 'anthropic', trigger: 'user' }, undefined);
  const taken = new Set<string>();
  return {
    writer: () => new AnswerWriter(writer, taken),
    items: () => foldTurn(drafts, 'turn').outputItems,
  };
}

const never = (): AbortSignal => new AbortController().signal;

/** Returns the answer to the message `go`, and its items. */
async function ask(client: AnthropicClient, request = requestOf([asks('go')])) {
  const { writer, items } = turn();
  const answer = await client.answer(request, writer(), never());
  return { answer, items: items() };
}

/** Returns the error of a request with the message `go`. */
async function failure(client: AnthropicClient, request?: ModelRequest): Promise<ModelError> {
  const error: unknown = await ask(client, request).catch((thrown: unknown) => thrown);
  if (!(error instanceof ModelError))
    throw new Error('The request did not fail.', { cause: error });
  return error;
}

const outputs = (items: readonly OutputItem[]): OutputItem[] =>
  items.flatMap((item) =>
    item.type === 'function_call'
      ? {
          type: 'function_call_output' as const,
          id: `${item.id}:output`,
          callId: item.callId,
          output: 'text',
          success: true,
          origin: 'tool_harness' as const,
        }
      : [],
  );

test('FR-001-24: thinking, text and a call are written while they arrive, and their tokens are counted', async () => {
  const usage = { input_tokens: 12, output_tokens: 34, cache_read_input_tokens: 5 };
  const { client } = await start([
    reply(
      [
        thinking('Which file?', { chunk: 3 }),
        text('I read it.', { chunk: 1 }),
        toolUse('read', { path: 'a b.txt' }, { id: 'toolu_1', chunk: 2 }),
      ],
      { usage },
    ),
  ]);
  const { answer, items } = await ask(client);
  expect(items).toMatchObject([
    { type: 'reasoning', content: 'Which file?' },
    { type: 'message', content: 'I read it.', origin: 'agent' },
    { type: 'function_call', name: 'read', callId: 'toolu_1', arguments: '{"path":"a b.txt"}' },
  ]);
  expect(answer).toEqual({
    calls: [
      { callId: 'toolu_1', itemId: 'toolu_1', name: 'read', arguments: '{"path":"a b.txt"}' },
    ],
    finishReason: 'tool_use',
    usage: { inputTokens: 17, outputTokens: 34, cacheReadInputTokens: 5 },
  });
});

test('the second request contains the blocks of the first answer unchanged', async () => {
  const redacted = { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' };
  const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { q: 'x' } };
  const found = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] };
  const { api, client } = await start([
    reply(
      [
        thinking(['Hm, ', 'well.'], { signature: 'c2lnLTE=' }),
        given(redacted),
        given(search),
        given(found),
        text('Two files.'),
        toolUse('read', { path: 'a', deep: { list: [1, 'ü'] } }, { id: 'toolu_1', chunk: 4 }),
        toolUse('read', {}, { id: 'toolu_2' }),
      ],
      { stopReason: 'tool_use' },
    ),
    reply('Done.'),
  ]);
  const { items } = await ask(client);
  const called = items.filter((item) => item.id.startsWith('toolu_'));
  const conversation = [asks('go'), ...items, ...outputs(called)];
  await ask(client, requestOf(conversation));

  const [, second] = api.requests;
  expect(second?.body.messages.slice(1)).toMatchObject([
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm, well.', signature: 'c2lnLTE=' },
        redacted,
        search,
        found,
        { type: 'text', text: 'Two files.' },
        {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'read',
          input: { path: 'a', deep: { list: [1, 'ü'] } },
        },
        { type: 'tool_use', id: 'toolu_2', name: 'read', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'text' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'text' },
      ],
    },
  ]);
  const sent = second?.body.messages[1]?.content as object[];
  expect(sent[0]).toEqual({ type: 'thinking', thinking: 'Hm, well.', signature: 'c2lnLTE=' });
  expect(sent[1]).toEqual(redacted);
});

test('the request has the model, the tools, the key and the thinking effort', async () => {
  const { api, client } = await start([reply('Hi.')]);
  const shown: OutputItem = {
    ...asks('see'),
    type: 'message',
    content: 'see',
    origin: 'user',
    blocks: [{ type: 'image', mimeType: 'image/png', data: pixel }],
  };
  await ask(client, requestOf([shown]));
  const [request] = api.requests;
  expect(request?.headers['authorization']).toBe('Bearer sk-secret');
  expect(request?.body).toMatchObject({
    model: 'claude-opus-5-5',
    stream: true,
    max_tokens: 64_000,
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    system: [{ type: 'text', text: 'Be brief.' }],
    tools: [{ name: 'read' }],
    messages: [{ content: [{ text: 'see' }, { type: 'image' }] }],
  });
});

test('the client reads neither key nor address from the environment', async () => {
  const { api } = await start([reply('Hi.')]);
  vi.stubEnv('ANTHROPIC_API_KEY', 'sk-of-another');
  vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'token-of-another');
  vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:9');
  await ask(new AnthropicClient({ baseUrl: `${api.url}/v1/` }));
  expect(api.requests[0]?.path).toBe('/v1/messages');
  expect(JSON.stringify(api.requests[0]?.headers)).not.toMatch(/of-another|authorization|api-key/);
});

test('interleaved blocks stay separate, a paused turn continues, and a refusal is shown', async () => {
  const { client } = await start([
    reply([text(['on', 'e']), toolUse('read', { x: 1 }), text(['tw', 'o'])], {
      isInterleaved: true,
    }),
    reply('So far', { stopReason: 'pause_turn' }),
    reply('Half', {
      stopReason: 'refusal',
      stopDetails: { type: 'refusal', category: null, explanation: 'No.' },
    }),
  ]);
  expect((await ask(client)).items).toMatchObject([
    { arguments: '{"x":1}' },
    { content: 'one' },
    { content: 'two' },
  ]);
  expect((await ask(client)).answer).toMatchObject({ finishReason: 'pause_turn', isPaused: true });
  const refused = await ask(client);
  expect(refused.answer.finishReason).toBe('refusal');
  expect(refused.items).toMatchObject([
    { content: 'Half', origin: 'agent' },
    { content: 'The model refused: No.', origin: 'system' },
  ]);
});

test.each([
  [400, 'messages: field required', 'MODEL_ERROR', false],
  [400, 'prompt is too long: 200001 tokens > 200000 maximum', 'CONTEXT_LENGTH', false],
  [400, 'input length and `max_tokens` exceed context limit', 'CONTEXT_LENGTH', false],
  [400, 'Your credit balance is too low', 'AUTHENTICATION', false],
  [400, 'Output blocked by content filtering policy', 'CONTENT_FILTER', false],
  [401, 'invalid x-api-key', 'AUTHENTICATION', false],
  [402, 'The account has no credit.', 'AUTHENTICATION', false],
  [403, 'not allowed', 'AUTHENTICATION', false],
  [404, 'model: claude-9', 'MODEL_NOT_FOUND', false],
  [413, 'Request exceeds the maximum size', 'CONTEXT_LENGTH', false],
  [429, 'slow down', 'RATE_LIMIT', true],
  [500, 'Internal server error', 'MODEL_UNAVAILABLE', true],
  [529, 'Overloaded', 'MODEL_UNAVAILABLE', true],
])('the status %i with “%s” is the error %s', async (status, message, code, isPassing) => {
  const { api, client } = await start([apiError(status, message)]);
  const error = await failure(client);
  expect({ code: error.code, isPassing: error.isPassing }).toEqual({ code, isPassing });
  expect(error.message).toMatch(/^[A-Z].*\. It says: /);
  expect(error.message).toContain(message);
  expect(error.details).toMatchObject({ status });
  // The client does not retry, because the caller decides whether to retry.
  expect(api.requests).toHaveLength(1);
});

test.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after-ms': '250', 'retry-after': '1' }, 250],
  [{}, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': new Date(0).toUTCString() }, 0],
])('the headers %j ask for a retry after %s ms', async (headers, retryAfterMs) => {
  const { client } = await start([apiError(429, 'slow down', headers)]);
  expect((await failure(client)).retryAfterMs).toBe(retryAfterMs);
});

test('a spending limit is not a temporary error', async () => {
  const error = { type: 'rate_limit_error', message: 'Limit reached.' };
  const details = { error_code: 'enforced_spend_limit_reached' };
  const limit = { ...apiError(429), error: { ...error, details } };
  const { client } = await start([limit]);
  expect(await failure(client)).toMatchObject({
    code: 'AUTHENTICATION',
    isPassing: false,
    details: { errorCode: 'enforced_spend_limit_reached' },
  });
});

test('a long error answer is cut to its beginning', async () => {
  const { client } = await start([apiError(502, `Bad gateway. ${'x'.repeat(10_000)}`)]);
  const { message } = await failure(client);
  expect(message).toContain('Bad gateway. xxx');
  expect(message.length).toBeLessThan(2_300);
});

test('if a server repeats the key in an error, the key is not shown', async () => {
  const { client } = await start([apiError(401, 'The key sk-secret is wrong.')]);
  const error = await failure(client);
  expect(error.message).toContain('The key *** is wrong.');
  expect(`${String(error.cause)} ${JSON.stringify(error.asObject)}`).not.toContain('sk-secret');
});

test.each([
  ['overloaded_error', 'MODEL_UNAVAILABLE'],
  ['rate_limit_error', 'RATE_LIMIT'],
])('%s in the middle of an answer is %s, and the text so far stays', async (type, code) => {
  const { client } = await start([reply([text('One.'), text(['Ha', streamError(type, 'Busy')])])]);
  const { writer, items } = turn();
  const asking = client.answer(requestOf([asks('go')]), writer(), never());
  await expect(asking).rejects.toMatchObject({ code, isPassing: true });
  expect(items()).toMatchObject([{ content: 'One.' }, { content: 'Ha' }]);
});

test('a connection that breaks off in the middle of an answer is CONNECTION_FAILED', async () => {
  const { client } = await start([reply(text(['Half', cut, 'never']))]);
  const { writer, items } = turn();
  const asking = client.answer(requestOf([asks('go')]), writer(), never());
  await expect(asking).rejects.toMatchObject({ code: 'CONNECTION_FAILED', isPassing: true });
  expect(items()).toMatchObject([{ content: 'Half' }]);
});

test('an unreachable server is CONNECTION_FAILED, with its address', async () => {
  const { api, client } = await start([]);
  await api.close();
  ended.length = 0;
  const error = await failure(client);
  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', isPassing: true });
  expect(error.message).toContain(`${api.url} could not be reached (ECONNREFUSED)`);
});

/** Starts a server that answers every request with this body. */
async function serve(contentType: string, body: string): Promise<AnthropicClient> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ended.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return new AnthropicClient({ baseUrl: `http://127.0.0.1:${port}` });
}

test('if an address does not belong to the API, the error reports that', async () => {
  expect(await failure(await serve('text/html', '<h1>Hello</h1>'))).toMatchObject({
    code: 'MODEL_ERROR',
    isPassing: false,
    message: expect.stringContaining(
      'answers with a web page, not as a model’s server. Check the base URL.',
    ),
  });
});

test('a stream that ends before the answer is complete is a broken connection', async () => {
  expect(await failure(await serve('text/event-stream', ''))).toMatchObject({
    code: 'CONNECTION_FAILED',
    isPassing: true,
  });
});

test('a stream that is not JSON is a MODEL_ERROR, and is not logged', async () => {
  vi.stubEnv('ANTHROPIC_LOG', 'error');
  const printed = vi.spyOn(console, 'error');
  const client = await serve('text/event-stream', 'event: message_start\ndata: {"type\n\n');
  expect(await failure(client)).toMatchObject({ code: 'MODEL_ERROR', isPassing: false });
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});

test('a model may be silent for longer than the time limits of the standard fetch', async () => {
  // The first fetch of a process sets the dispatcher.
  await fetch('data:,');
  const inUse = Symbol.for('undici.globalDispatcher.1');
  const before: unknown = Reflect.get(globalThis, inUse);
  const ofUndici = getGlobalDispatcher();
  // fetch measures its time limits only roughly.
  const slow = reply(text(['One, ', pause(2_500), 'two.']));
  const { api, client } = await start([slow, slow]);
  setGlobalDispatcher(new Agent({ bodyTimeout: 200 }));
  ended.push(async () => {
    setGlobalDispatcher(ofUndici);
    Reflect.set(globalThis, inUse, before);
  });
  const body = { model: 'm', stream: true, tools, messages: [] };
  const plain = await fetch(`${api.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  await expect(plain.text()).rejects.toThrow('terminated');
  expect((await ask(client)).items).toMatchObject([{ content: 'One, two.' }]);
});

const half = (waiting: ReturnType<typeof gate>): Script => [reply(text(['Half', waiting, '.']))];
const silent = (waiting: ReturnType<typeof gate>): Script => [held(waiting, reply('Late.'))];

test.each([
  ['in the middle of an answer', half],
  ['before the first word', silent],
])('a request that is aborted %s ends at the server', async (_, script) => {
  const waiting = gate();
  const { api, client } = await start(script(waiting));
  const aborter = new AbortController();
  const reason = new Error('Stopped.');
  const asking = client.answer(requestOf([asks('go')]), turn().writer(), aborter.signal);
  void waiting.reached.then(() => aborter.abort(reason));
  await expect(asking).rejects.toBe(reason);
  await api.left(await api.request(() => true));
  expect(api.requests).toHaveLength(1);
});

test('if the signal has already aborted, no request is sent', async () => {
  const { api, client } = await start([]);
  const asking = client.answer(requestOf([asks('go')]), turn().writer(), AbortSignal.abort());
  await expect(asking).rejects.toThrow('aborted');
  expect(api.requests).toEqual([]);
});

test('a conversation whose thinking blocks the server refuses is sent once more without them', async () => {
  const bound =
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.';
  const { api, client } = await start([
    reply([thinking('Hm.'), text('Hi.')]),
    apiError(400, bound),
    reply('Hello again.'),
    apiError(400, bound),
  ]);
  const { items } = await ask(client);
  const conversation = [asks('go'), ...items, asks('on')];
  const second = await ask(client, requestOf(conversation, { instructions: 'Be long.' }));
  expect(second.items).toMatchObject([{ content: 'Hello again.' }]);
  const sent = api.requests.slice(1).map(({ body }) => body.messages[1]?.content);
  expect(sent).toMatchObject([[{ type: 'thinking' }, { type: 'text' }], [{ type: 'text' }]]);
  // Later requests leave the thinking out from the start; if the server still refuses, the request fails.
  expect(await failure(client, requestOf(conversation))).toMatchObject({ code: 'MODEL_ERROR' });
  expect(api.requests).toHaveLength(4);
  expect(api.requests[3]?.body.messages[1]?.content).toMatchObject([{ type: 'text' }]);
});

test('models of all pages are listed', async () => {
  const models = [
    { id: 'claude-b', display_name: 'Claude B', max_input_tokens: 1_000_000 },
    { id: 'claude-a' },
    { id: 'claude-c', display_name: 'Claude C' },
  ];
  const { api, client } = await start([], models, 2);
  expect(await client.listModels(never())).toEqual([
    { id: 'claude-b', name: 'Claude B', contextWindow: 1_000_000 },
    { id: 'claude-a' },
    { id: 'claude-c', name: 'Claude C' },
  ]);
  expect(api.modelRequests).toHaveLength(2);
});

test('a model’s capabilities in the server’s list determine the form of its requests', async () => {
  const types = { adaptive: { supported: true } };
  const capabilities = { thinking: { supported: true, types } };
  const { api, client } = await start(
    [reply('Hi.')],
    [{ id: 'house-model', max_tokens: 3_000, capabilities }],
  );
  await client.listModels(never());
  await ask(client, requestOf([asks('go')], { model: 'house-model' }));
  expect(api.requests[0]?.body).toMatchObject({
    max_tokens: 3_000,
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
  });
});

test('an endless list of models is cut off', async () => {
  const data = Array.from({ length: 1_000 }, (_, index) => ({ id: `m${index}` }));
  const endless = { data, has_more: true, first_id: 'm0', last_id: 'm999' };
  const client = await serve('application/json', JSON.stringify(endless));
  expect(await client.listModels(never())).toHaveLength(1_000);
});

test('if a server cannot list its models, the reason is reported', async () => {
  const { client } = await start([]);
  await expect(client.listModels(never())).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
  const aborted = client.listModels(AbortSignal.abort());
  await expect(aborted).rejects.toThrow('aborted');
});
