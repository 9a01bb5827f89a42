import type { ContentBlock, OutputItem } from '@liminal/protocol';
import {
  answer,
  cut,
  errorEvent,
  failed,
  functionCall,
  gate,
  held,
  httpError,
  incomplete,
  message,
  type ModelScript,
  pixel,
  reasoning,
  refusal,
  type ResponsesApi,
  type ResponsesRequest,
  startResponsesApi,
  webSearch,
} from '@liminal/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { Asking, itemsOf, user } from './asking.ts';

let api: ResponsesApi;

afterEach(async () => {
  vi.useRealTimers();
  await api.close();
});

async function start(script: ModelScript): Promise<OpenAiClient> {
  api = await startResponsesApi({ script });
  return new OpenAiClient({ baseUrl: api.url });
}

test('text, reasoning and calls of a stream become items, and the result lists the calls', async () => {
  const client = await start([
    answer([
      reasoning(['one', 'two'], { encrypted: 'gAAAA' }),
      message('Looking.', { chunk: 3 }),
      functionCall('ls', { path: 'src' }, { callId: 'a', chunk: 4 }),
      functionCall('cat', { path: 'x' }, { callId: 'b' }),
    ]),
  ]);
  const asking = new Asking(client);
  expect(await asking.answer).toEqual({
    calls: [
      { callId: 'a', name: 'ls', arguments: '{"path":"src"}', itemId: 'resp_0001_2' },
      { callId: 'b', name: 'cat', arguments: '{"path":"x"}', itemId: 'resp_0001_3' },
    ],
    finishReason: 'completed',
    usage: { inputTokens: 100, outputTokens: 20, cacheReadInputTokens: 40 },
  });
  expect(asking.items).toMatchObject([
    {
      type: 'reasoning',
      content: 'one\n\ntwo',
      raw: { openai: { id: 'resp_0001_0', encrypted_content: 'gAAAA' } },
    },
    { type: 'message', content: 'Looking.' },
    { type: 'function_call', callId: 'a' },
    { type: 'function_call', callId: 'b' },
  ]);
});

test('the model’s reasoning and calls are sent back to the model', async () => {
  const client = await start([
    answer([
      reasoning(['hm'], { encrypted: 'gAAAA' }),
      functionCall('ls', { path: 'src' }, { callId: 'a' }),
    ]),
    answer('done'),
  ]);
  const said = await itemsOf(client);
  const image = { type: 'image', mimeType: 'image/png', data: pixel } as const;
  const output = {
    type: 'function_call_output',
    id: 'o',
    callId: 'a',
    output: 'a.ts',
    success: true,
    origin: 'tool_harness',
  } as const;
  const conversation = [{ ...user('look'), blocks: [image] }, ...said, output];
  await new Asking(client, { conversation }).answer;
  expect(api.requests[1]?.body).toMatchObject({
    instructions: 'Be short.',
    store: false,
    include: ['reasoning.encrypted_content'],
    input: [
      {
        role: 'user',
        content: [{ type: 'input_text' }, { type: 'input_image', image_url: dataUrl }],
      },
      { type: 'reasoning', id: 'resp_0001_0', encrypted_content: 'gAAAA' },
      { type: 'function_call', call_id: 'a', arguments: '{"path":"src"}' },
      { type: 'function_call_output', call_id: 'a', output: 'a.ts' },
    ],
  });
  expect(api.requests[1]?.toolResults).toEqual({ a: 'a.ts' });
});

const dataUrl = `data:image/png;base64,${pixel}`;

test('a refusal and a truncated answer are reported', async () => {
  const client = await start([answer(refusal('No.')), incomplete('max_output_tokens', 'ha')]);
  const asking = new Asking(client);
  expect((await asking.answer).finishReason).toBe('refusal');
  expect(asking.items).toMatchObject([{ type: 'message', content: 'No.' }]);
  expect((await new Asking(client).answer).finishReason).toBe('max_output_tokens');
});

/** Sends thinking only if the request asks for a summary. */
const thinking = ({ body }: ResponsesRequest) => {
  const isAsked = JSON.stringify(body['reasoning'] ?? {}).includes('"summary"');
  return answer([reasoning(isAsked ? ['Hm.'] : []), message('Yes.')]);
};

test('with the default effort, the model’s thinking is shown', async () => {
  const client = await start(thinking);
  expect(await itemsOf(client)).toMatchObject([
    { type: 'reasoning', content: 'Hm.' },
    { type: 'message', content: 'Yes.' },
  ]);
  expect(api.requests[0]?.body['reasoning']).toEqual({ summary: 'auto' });
});

test('a server that refuses summaries costs one additional request, only once', async () => {
  const refused = httpError(
    400,
    'Your organization must be verified to generate reasoning summaries.',
    { code: 'unsupported_value', param: 'reasoning.summary' },
  );
  const client = await start((request) =>
    request.body['reasoning'] === undefined ? thinking(request) : refused,
  );
  expect(await itemsOf(client)).toMatchObject([{ type: 'reasoning' }, { content: 'Yes.' }]);
  await itemsOf(client);
  expect(api.requests.map(({ body }) => body['reasoning'])).toEqual([
    { summary: 'auto' },
    undefined,
    undefined,
  ]);
});

test('a search is sent back unchanged, at its place between reasoning and later items', async () => {
  const found = {
    type: 'search',
    query: 'x',
    sources: [{ type: 'url', url: 'https://x.example' }],
  };
  const client = await start([
    answer([
      reasoning(['hm'], { encrypted: 'gAAAA' }),
      webSearch(found),
      reasoning(['so'], { encrypted: 'gBBBB' }),
      functionCall('ls', {}, { callId: 'a' }),
    ]),
    answer('done'),
  ]);
  const said = await itemsOf(client);
  expect(said.map(({ type }) => type)).toEqual([
    'reasoning',
    'function_call',
    'function_call_output',
    'reasoning',
    'function_call',
  ]);
  await new Asking(client, { conversation: [user('look'), ...said] }).answer;
  expect(api.requests[1]?.body.input).toMatchObject([
    { role: 'user' },
    { type: 'reasoning', encrypted_content: 'gAAAA' },
    { type: 'web_search_call', id: 'resp_0001_1', status: 'completed', action: found },
    { type: 'reasoning', encrypted_content: 'gBBBB' },
    { type: 'function_call', call_id: 'a' },
  ]);
});

const tools = [{ name: 'ls', description: 'Lists.', parameters: { type: 'object' } }];

test('the server’s search tool is offered only if it is switched on, and only to models with tools', async () => {
  api = await startResponsesApi({ script: () => answer('ok') });
  const search = { type: 'web_search' };
  const offered: unknown[] = [];
  for (const webSearch of [true, false]) {
    const client = new OpenAiClient({ baseUrl: api.url, webSearch });
    await new Asking(client, { tools }).answer;
    await new Asking(client).answer;
    offered.push(...api.requests.splice(0).map(({ body }) => [body.tools, body['include']]));
  }
  const [encrypted, sources] = ['reasoning.encrypted_content', 'web_search_call.action.sources'];
  const ls = { type: 'function', name: 'ls' };
  expect(offered).toMatchObject([
    [
      [ls, search],
      [encrypted, sources],
    ],
    [[], [encrypted]],
    [[ls], [encrypted]],
    [[], [encrypted]],
  ]);
});

test('the result has the number of searches that the server has counted', async () => {
  const client = await start([answer('ok', { searches: 2 }), answer('ok')]);
  expect((await new Asking(client).answer).searches).toBe(2);
  expect((await new Asking(client).answer).searches).toBeUndefined();
});

test.each([
  ['response.failed', failed('server_error', 'Broken', message('half')), 'MODEL_UNAVAILABLE'],
  ['error', errorEvent('rate_limit_exceeded', 'Slow down', message('half')), 'RATE_LIMIT'],
  ['a cut', answer(message(['half', cut])), 'CONNECTION_FAILED'],
])('%s in the middle of an answer is the answer’s error', async (_case, reply, code) => {
  const client = await start([reply]);
  const asking = new Asking(client);
  await expect(asking.answer).rejects.toMatchObject({ code });
  expect(asking.text).toBe('half');
});

test('an HTTP error is reported as the answer’s error, and is not retried', async () => {
  const client = await start([httpError(429, 'Slow down', { headers: { 'retry-after': '3' } })]);
  await expect(new Asking(client).answer).rejects.toMatchObject({
    code: 'RATE_LIMIT',
    isPassing: true,
    retryAfterMs: 3_000,
    message: 'The model’s server accepts no more requests at the moment: Slow down.',
  });
  expect(api.requests).toHaveLength(1);
});

test('an error about a missing model does not cause a switch to the other API', async () => {
  const missing = httpError(404, 'The model `x` does not exist', { code: 'model_not_found' });
  const client = await start([missing]);
  await expect(new Asking(client).answer).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
});

test('reasoning that the server cannot read is left out of the next request', async () => {
  const client = await start([
    httpError(400, 'The encrypted content gAAA could not be verified.', {
      code: 'invalid_encrypted_content',
    }),
    answer('ok'),
  ]);
  const raw = { openai: { id: 'rs', encrypted_content: 'gAAA' } };
  const thought = { type: 'reasoning', id: 'r', content: '', origin: 'agent', raw } as const;
  const said = { type: 'message', id: 'm', content: 'a', origin: 'agent' } as const;
  await new Asking(client, { conversation: [user('hi'), thought, said, user('go on')] }).answer;
  expect(api.requests.map(({ body }) => body.input.length)).toEqual([4, 3]);
});

test('if a server accepts only text from tools, a tool’s image is only named', async () => {
  const client = await start([
    httpError(400, "Output of tool call should be 'Input text'"),
    answer('ok'),
  ]);
  const call = { type: 'function_call', callId: 'c', name: 'shoot', arguments: '{}' } as const;
  const blocks = [{ type: 'image' as const, mimeType: 'image/png', data: pixel, name: 'a.png' }];
  const output = { type: 'function_call_output', callId: 'c', output: 'See:', blocks } as const;
  const conversation: OutputItem[] = [
    user('hi'),
    { ...call, id: 'c', origin: 'agent' },
    { ...output, id: 'c:out', success: true, origin: 'tool_harness' },
  ];
  await new Asking(client, { conversation }).answer;
  expect(api.requests.map(({ body }) => body.input.at(-1))).toMatchObject([
    { output: [{ type: 'input_text' }, { type: 'input_image' }] },
    { output: [{ text: 'See:' }, { text: '[a.png (image/png) cannot be shown here]' }] },
  ]);
});

test.each([
  [500, 'image input is not supported - hint: you may need to provide the mmproj', 'a.png'],
  [400, "'input_file' is not supported by llamacpp at this moment", 'a.pdf'],
])('after the status %j with “%s”, only %s is named', async (status, complaint, named) => {
  const client = await start([httpError(status, complaint), answer('ok')]);
  const pdf = { uri: 'b', name: 'a.pdf', mimeType: 'application/pdf', blob: btoa('%PDF-1.4') };
  const blocks: ContentBlock[] = [
    { type: 'image', mimeType: 'image/png', data: pixel, name: 'a.png' },
    { type: 'resource', resource: pdf },
  ];
  const said: OutputItem = { type: 'message', id: 'u', origin: 'user', content: 'hi', blocks };
  await new Asking(client, { conversation: [said] }).answer;
  const [first, second] = api.requests.map(({ body }) => JSON.stringify(body.input));
  expect(first).not.toContain('cannot be shown');
  expect(second?.match(/\[\S+ \(\S+\) cannot be shown here\]/g)).toEqual([
    expect.stringContaining(named),
  ]);
});

test('a server that refuses every request is not retried forever', async () => {
  const complaint = httpError(400, "Output of tool call should be 'Input text'");
  const client = await start([complaint, answer('never')]);
  await expect(new Asking(client).answer).rejects.toMatchObject({ code: 'MODEL_ERROR' });
  expect(api.requests).toHaveLength(1);
});

test('a server may be silent for an hour before and during its answer', async () => {
  const [silence, middle] = [gate(), gate()];
  const client = await start([held(silence, answer(message(['one', middle, ' two'])))]);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const asking = new Asking(client);
  for (const { reached, open } of [silence, middle]) {
    await reached;
    await vi.advanceTimersByTimeAsync(3_600_000);
    open();
  }
  await asking.answer;
  expect(asking.items).toMatchObject([{ content: 'one two' }]);
});

test('stopping ends the request, before the answer and while it arrives', async () => {
  const silence = gate();
  const middle = gate();
  const client = await start([
    held(silence, answer('never')),
    answer(message(['half', middle, 'never'])),
  ]);
  for (const [index, reached] of [silence.reached, middle.reached].entries()) {
    const asking = new Asking(client);
    await reached;
    asking.stop();
    await expect(asking.answer).rejects.toThrow('aborted');
    expect(await api.requests[index]!.left).toBeUndefined();
  }
  silence.open();
  middle.open();
});
