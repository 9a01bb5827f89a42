/** Tests a server's API, models and key, and servers that cannot be reached. */
import { createServer } from 'node:http';
import {
  answer,
  chat,
  freePort,
  httpError,
  startChatCompletionsApi,
  startResponsesApi,
} from '@liminal/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { Asking, itemsOf } from './asking.ts';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) await close();
});

async function chatServer(options: Parameters<typeof startChatCompletionsApi>[0]) {
  const api = await startChatCompletionsApi(options);
  closing.push(() => api.close());
  return api;
}

async function responsesServer(options: Parameters<typeof startResponsesApi>[0]) {
  const api = await startResponsesApi(options);
  closing.push(() => api.close());
  return api;
}

const never = new AbortController().signal;

test.each([
  ['as Go’s servers do', chat.otherError(404, '404 page not found')],
  ['as FastAPI does', chat.otherError(404, { detail: 'Not Found' })],
  ['as llama.cpp does', chat.httpError(404, 'File Not Found', { type: 'not_found_error' })],
  ['with 405', chat.otherError(405, '')],
  [
    'with 200, as LM Studio does,',
    chat.otherError(200, { error: 'Unexpected endpoint or method. (POST /v1/responses)' }),
  ],
])(
  'a server that reports %s that it lacks Responses is asked by Chat Completions',
  async (_case, notFound) => {
    const script = [chat.answer('one'), chat.answer('two')];
    const api = await chatServer({ script, notFound });
    const client = new OpenAiClient({ baseUrl: api.url });
    expect(await itemsOf(client)).toMatchObject([{ content: 'one' }]);
    expect(await itemsOf(client)).toMatchObject([{ content: 'two' }]);
    // The client has stored which API the server has.
    expect(api.unknown).toEqual(['POST /v1/responses']);
  },
);

test('for a server with neither API, the error says what to check', async () => {
  const api = await chatServer({ script: [] });
  const client = new OpenAiClient({ baseUrl: api.url.replace('/v1', '/v2') });
  await expect(new Asking(client).answer).rejects.toMatchObject({
    code: 'MODEL_ERROR',
    message: expect.stringContaining('Check the base URL'),
  });
  expect(api.unknown).toEqual(['POST /v2/responses', 'POST /v2/chat/completions']);
});

test('with web search, which needs Responses, Chat Completions are not used for a server without Responses', async () => {
  const api = await chatServer({ script: [], notFound: chat.otherError(404, 'Not found') });
  const client = new OpenAiClient({ baseUrl: api.url, webSearch: true });
  await expect(new Asking(client).answer).rejects.toThrow(
    'lacks the Responses API, which “webSearch” needs. Remove “webSearch”',
  );
  expect(api.unknown).toEqual(['POST /v1/responses']);
});

test('FR-001-26: after an answer by Responses, later requests use only Responses', async () => {
  const api = await responsesServer({ script: [answer('one'), httpError(404, 'It is gone')] });
  const client = new OpenAiClient({ baseUrl: api.url });
  expect(await itemsOf(client)).toMatchObject([{ content: 'one' }]);
  await expect(new Asking(client).answer).rejects.toThrow('It is gone');
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['sk-own', 'Bearer sk-own'],
])(
  'with the key %j the server gets %j, whatever the environment contains',
  async (apiKey, sent) => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-environment');
    vi.stubEnv('OPENAI_ORG_ID', 'org');
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-secret: yes');
    const api = await responsesServer({ script: [answer('ok')] });
    await new Asking(new OpenAiClient({ baseUrl: api.url, apiKey })).answer;
    const headers = api.requests[0]!.headers;
    expect(headers['authorization']).toBe(sent);
    expect(Object.keys(headers).filter((name) => /^(openai|x)-/.test(name))).toEqual([]);
  },
);

test('an error never contains the key', async () => {
  const says = chat.httpError(401, 'Incorrect API key provided: sk-own.');
  const api = await chatServer({ script: [says] });
  const client = new OpenAiClient({ baseUrl: api.url, apiKey: 'sk-own', api: 'chat' });
  const error = await new Asking(client).answer.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'AUTHENTICATION',
    message: expect.stringContaining('provided: ….'),
    details: undefined,
    cause: undefined,
  });
});

test('the error for a server that cannot be reached names the server', async () => {
  const origin = `http://127.0.0.1:${await freePort()}`;
  const client = new OpenAiClient({ baseUrl: `${origin}/v1`, apiKey: 'sk-own' });
  const message = `The model’s server could not be reached at ${origin} (ECONNREFUSED). Check that it runs there.`;
  const expected = { code: 'CONNECTION_FAILED', isPassing: true, message };
  await expect(new Asking(client).answer).rejects.toMatchObject(expected);
  await expect(client.listModels(never)).rejects.toMatchObject(expected);
});

test('models are listed with the details that a server reports', async () => {
  const entries = [
    { id: 'gpt-5', object: 'model', owned_by: 'openai' },
    { id: 'qwen3:8b', object: 'model', created: 1, owned_by: 'library' },
    { id: 'vllm', max_model_len: 4096 },
    { id: 'router', name: 'A Router', context_length: 8192 },
    { id: 'llama', meta: { n_ctx_train: 32_768 } },
    { object: 'model' },
  ];
  const api = await responsesServer({ script: [], models: entries });
  expect(await new OpenAiClient({ baseUrl: api.url }).listModels(never)).toEqual([
    { id: 'gpt-5' },
    { id: 'qwen3:8b' },
    { id: 'vllm', contextWindow: 4096 },
    { id: 'router', name: 'A Router', contextWindow: 8192 },
    { id: 'llama', contextWindow: 32_768 },
  ]);
});

/** Starts a server that answers every request with this body. */
async function plainServer(body: string, type = 'application/json'): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`;
}

test.each([
  ['{"object":"list","data":null}', []],
  ['{"models":[{"name":"a","model":"a:latest"}]}', [{ id: 'a:latest', name: 'a' }]],
  ['[{"id":"a"}]', [{ id: 'a' }]],
  ['{}', []],
])('the list %s has the models %j', async (body, models) => {
  const baseUrl = await plainServer(body);
  expect(await new OpenAiClient({ baseUrl }).listModels(never)).toEqual(models);
});

test('an endless list of models, or a list of values that are not models, is an error', async () => {
  const endless = await plainServer(`{"data":[${'{"id":"a"},'.repeat(500_000)}{"id":"a"}]}`);
  const expected = { code: 'MODEL_ERROR', message: expect.stringContaining('cannot be read') };
  await expect(new OpenAiClient({ baseUrl: endless }).listModels(never)).rejects.toMatchObject(
    expected,
  );
  const page = await plainServer('<html></html>', 'text/html');
  await expect(new OpenAiClient({ baseUrl: page }).listModels(never)).rejects.toMatchObject({
    code: 'MODEL_ERROR',
    message: expect.stringContaining('answers with a web page'),
  });
});
