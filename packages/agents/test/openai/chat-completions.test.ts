import {
  chat,
  type ChatCompletionsApi,
  type ChatScript,
  cut,
  gate,
  pixel,
  startChatCompletionsApi,
} from '@liminal/testkit';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { afterEach, expect, test, vi } from 'vitest';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { Asking, itemsOf, user } from './asking.ts';

let api: ChatCompletionsApi;

afterEach(async () => {
  vi.restoreAllMocks();
  await api.close();
});

async function start(script: ChatScript): Promise<OpenAiClient> {
  api = await startChatCompletionsApi({ script });
  return new OpenAiClient({ baseUrl: api.url, api: 'chat' });
}

test('text, reasoning and calls of a stream become items, and the result lists the calls', async () => {
  const client = await start([
    chat.answer([
      chat.thinking('hm', { field: 'reasoning' }),
      chat.text('Looking.', { chunk: 3 }),
      chat.interleaved(
        chat.call('ls', { path: 'src' }, { callId: 'a', chunk: 2 }),
        chat.call('cat', { path: 'x' }, { callId: 'b', chunk: 3 }),
      ),
    ]),
  ]);
  const asking = new Asking(client);
  expect(await asking.answer).toEqual({
    calls: [
      { callId: 'a', name: 'ls', arguments: '{"path":"src"}', itemId: 'a' },
      { callId: 'b', name: 'cat', arguments: '{"path":"x"}', itemId: 'b' },
    ],
    finishReason: 'tool_calls',
    usage: { inputTokens: 100, outputTokens: 20, cacheReadInputTokens: 40 },
  });
  expect(asking.items).toMatchObject([
    { type: 'reasoning', content: 'hm' },
    { type: 'message', content: 'Looking.' },
    { type: 'function_call', callId: 'a', arguments: '{"path":"src"}' },
    { type: 'function_call', callId: 'b', arguments: '{"path":"x"}' },
  ]);
});

const call = (naming: Parameters<typeof chat.call>[2]) =>
  chat.answer(chat.call('ls', { path: 'é→😀' }, { chunk: 4, ...naming }));

test.each([
  ['ids that come late', call({ ids: 'second' })],
  ['no ids', call({ ids: 'never' })],
  ['an id in each chunk', call({ ids: 'each', repeatsName: true })],
  ['a new id in each chunk', call({ ids: 'fresh' })],
  ['no index', call({ index: 'none' })],
  ['no index and no ids', call({ index: 'none', ids: 'never' })],
  ['whole arguments', call({ isWhole: true, index: 'none', ids: 'never' })],
  ['arguments as an object', call({ asObject: true })],
  ['empty deltas', { ...call({}), hasEmpties: true }],
  ['usage in every chunk', { ...call({}), usagePlace: 'each' as const }],
  ['no end mark', { ...call({}), isMarked: false }],
  ['the reason stop', { ...call({}), finishReason: 'stop' }],
  ['no reason', { ...call({}), finishReason: null }],
  ['CR LF line ends', { ...call({}), lineEnd: '\r\n' as const }],
  ['comments', { ...call({}), comment: 'ping' }],
  ['events and characters in pieces', { ...call({}), pieceBytes: 3, finishReason: null }],
])('a server with %s gives the same call', async (_case, reply) => {
  const client = await start([reply]);
  const asking = new Asking(client);
  const { calls, usage } = await asking.answer;
  expect(calls).toMatchObject([{ name: 'ls', arguments: '{"path":"é→😀"}' }]);
  expect(asking.items).toMatchObject([{ type: 'function_call', arguments: '{"path":"é→😀"}' }]);
  expect(usage).toMatchObject({ inputTokens: 100 });
});

test('an answer without token counts has no usage', async () => {
  const client = await start([chat.answer('a', { usagePlace: 'never' })]);
  expect((await new Asking(client).answer).usage).toBeUndefined();
});

test.each(['length', 'content_filter'])(
  'an answer that ended because of %s reports that reason',
  async (reason) => {
    const client = await start([chat.answer('ha', { finishReason: reason })]);
    expect((await new Asking(client).answer).finishReason).toBe(reason);
  },
);

test.each([
  ['is cut', chat.answer(chat.text(['half', cut]))],
  ['ends without a reason or a mark', chat.answer('half', { finishReason: null, isMarked: false })],
])('a stream that %s is a broken connection', async (_case, reply) => {
  const client = await start([reply]);
  const asking = new Asking(client);
  await expect(asking.answer).rejects.toMatchObject({
    code: 'CONNECTION_FAILED',
    isPassing: true,
  });
  expect(asking.text).toBe('half');
});

const [wav, png] = ['[a.wav (audio/wav)', '[a.png (image/png)'];
test.each([
  ['audio input is not supported - hint: you may need to provide the mmproj', {}, [wav]],
  ['At most 0 audio(s) may be provided in one prompt.', {}, [wav]],
  ['At most 0 image(s) may be provided in one prompt.', {}, [png]],
  ['qwen3 is not a multimodal model', {}, [wav, png]],
  ['This model does not support the format you provided.', { code: 'unsupported_format' }, [wav]],
])('after the error “%s”, the files that it concerns are only named', async (says, more, named) => {
  const client = await start([chat.httpError(400, says, more), chat.answer('ok')]);
  const blocks: ContentBlock[] = [
    { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==', name: 'a.wav' },
    { type: 'image', mimeType: 'image/png', data: pixel, name: 'a.png' },
  ];
  const said: OutputItem = { type: 'message', id: 'u', origin: 'user', content: 'hi', blocks };
  expect(await itemsOf(client, { conversation: [said] })).toMatchObject([{ content: 'ok' }]);
  const [first, second] = api.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(first).not.toContain('cannot be shown');
  expect(second?.match(/\[a\.\w+ \(\S+\)(?= cannot be shown here\])/g)).toEqual(named);
});

test('an error within a stream is reported as the answer’s error', async () => {
  const error = { message: 'The engine died.', code: 500 };
  const client = await start([chat.answer('half', { error })]);
  await expect(new Asking(client).answer).rejects.toMatchObject({
    code: 'MODEL_UNAVAILABLE',
    message: 'The model’s server cannot answer at the moment: The engine died.',
  });
});

test('an event that is not JSON ends the answer with an error that says so', async () => {
  const logged = vi.spyOn(console, 'error');
  const client = await start([chat.answer(chat.chunk('{"half'))]);
  await expect(new Asking(client).answer).rejects.toMatchObject({
    code: 'MODEL_ERROR',
    message: expect.stringContaining('cannot be read'),
  });
  // Only Liminal may log.
  expect(logged).not.toHaveBeenCalled();
});

test('an answer that is not streamed can also be read', async () => {
  const message = { role: 'assistant', content: 'whole' };
  const choices = [{ message, finish_reason: 'stop' }];
  const body = { object: 'chat.completion', choices };
  const client = await start([
    chat.otherError(200, body),
    chat.otherError(200, { choices: [{ message }] }),
  ]);
  expect(await itemsOf(client)).toMatchObject([{ type: 'message', content: 'whole' }]);
  expect(await itemsOf(client)).toMatchObject([{ type: 'message', content: 'whole' }]);
});

test('a call never gets the id of an earlier call', async () => {
  const client = await start([chat.answer(chat.call('ls', {}, { callId: 'call_0' }))]);
  const earlier = { type: 'function_call', id: 'c', callId: 'call_0', name: 'ls' } as const;
  const output = { type: 'function_call_output', id: 'o', callId: 'call_0', output: '' } as const;
  const conversation = [
    user('hi'),
    { ...earlier, arguments: '{}', origin: 'agent' as const },
    { ...output, success: true, origin: 'tool_harness' as const },
  ];
  expect(await itemsOf(client, { conversation })).toMatchObject([
    { callId: expect.stringMatching(/^call_[0-9a-f]{32}$/), raw: { openai: { id: 'call_0' } } },
  ]);
});

test('a request has the conversation, the tools and the images', async () => {
  const client = await start([chat.answer('ok')]);
  const image = { type: 'image', mimeType: 'image/png', data: pixel } as const;
  const tools = [{ name: 'ls', description: 'Lists.', parameters: { type: 'object' } }];
  const conversation = [{ ...user('look'), blocks: [image] }];
  await new Asking(client, { conversation, tools, effort: 'high' }).answer;
  expect(api.requests[0]?.body).toMatchObject({
    model: 'scripted-model',
    messages: [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image_url' }] },
    ],
    tools: [{ type: 'function', function: { name: 'ls' } }],
    reasoning_effort: 'high',
    stream_options: { include_usage: true },
  });
});

test.each([
  [
    'as OpenAI does',
    chat.httpError(400, 'Unknown parameter: stream_options', { param: 'stream_options' }),
  ],
  [
    'as FastAPI does',
    chat.otherError(422, { detail: [{ loc: ['body', 'stream_options'], msg: 'Not permitted' }] }),
  ],
])(
  'a field that the server refuses, %s, is left out, at once and later',
  async (_case, refusal) => {
    const client = await start([refusal, chat.answer('one'), chat.answer('two')]);
    await new Asking(client).answer;
    await new Asking(client).answer;
    expect(api.requests.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false]);
  },
);

test('a server that refuses a field which was not sent causes only one retry', async () => {
  const refusal = chat.httpError(400, 'Unknown parameter: stream_options', {
    param: 'stream_options',
  });
  const client = await start([refusal, refusal]);
  await expect(new Asking(client).answer).rejects.toMatchObject({ code: 'MODEL_ERROR' });
  expect(api.requests).toHaveLength(2);
});

test('stopping ends the request while the answer arrives', async () => {
  const middle = gate();
  const client = await start([chat.answer(chat.text(['half', middle, 'never']))]);
  const asking = new Asking(client);
  await middle.reached;
  asking.stop();
  await expect(asking.answer).rejects.toThrow('aborted');
  expect(await api.requests[0]!.left).toBeUndefined();
  middle.open();
});
