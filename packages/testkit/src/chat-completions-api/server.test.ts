import { afterEach, expect, test } from 'vitest';
import { gate } from '../scripted-server/gate.ts';
import { cut } from '../scripted-server/stream-incident.ts';
import { held } from '../scripted-server/script.ts';
import {
  answer,
  call,
  chunk,
  httpError,
  interleaved,
  otherError,
  refusal,
  text,
  thinking,
} from './reply.ts';
import { byPrompt, type ChatScript } from './script.ts';
import { startChatCompletionsApi, type ChatCompletionsApi } from './server.ts';

let api: ChatCompletionsApi | undefined;

afterEach(async () => {
  await api?.close();
  api = undefined;
});

const start = async (script: ChatScript): Promise<ChatCompletionsApi> =>
  (api = await startChatCompletionsApi({ script }));

const post = (body: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(`${api?.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
      ...body,
    }),
    ...(signal !== undefined && { signal }),
  });

/** Returns the answer to the request, as text. */
const played = async (body: Record<string, unknown> = {}): Promise<string> =>
  (await post(body)).text();

interface Said {
  choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: unknown;
}

const chunks = (body: string): Said[] =>
  body
    .split(/\r?\n/)
    .flatMap((line) => (/^data: (\{.*)$/.exec(line) ?? []).slice(1))
    .map((data) => JSON.parse(data));

const deltas = (body: string): Record<string, unknown>[] =>
  chunks(body).flatMap(({ choices }) => choices.map(({ delta }) => delta));

const said = (body: string, field = 'content'): string =>
  deltas(body)
    .map((delta) => (delta[field] as string | null | undefined) ?? '')
    .join('');

/** Returns the pieces of all tool calls, in one list. */
const pieces = (body: string) =>
  deltas(body).flatMap(({ tool_calls: calls = [] }) =>
    (calls as Record<string, unknown>[]).map(({ function: said, type: _type, ...rest }) => ({
      ...rest,
      ...(said as object),
    })),
  );

test('content is streamed in chunks; if the request asks for usage, a last chunk without choices contains it', async () => {
  await start([answer(text('abcd', { chunk: 2 })), answer('x')]);
  const body = await played({ stream_options: { include_usage: true } });
  expect(deltas(body)).toEqual([
    { role: 'assistant', content: '' },
    { content: 'ab' },
    { content: 'cd' },
    {},
  ]);
  expect(chunks(body).at(-2)?.choices[0]?.finish_reason).toBe('stop');
  expect(chunks(body).at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 120 } });
  expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(await played()).not.toContain('usage');
});

test('reasoning is in the field that the server uses, and a refusal has a field of its own', async () => {
  await start([answer([thinking('a'), thinking('b', { field: 'reasoning' }), refusal('no')])]);
  const body = await played();
  expect([said(body, 'reasoning_content'), said(body, 'reasoning'), said(body, 'refusal')]).toEqual(
    ['a', 'b', 'no'],
  );
});

test.each([
  [{}, ['c', undefined, undefined]],
  [{ ids: 'second' }, [undefined, 'c', undefined]],
  [{ ids: 'each' }, ['c', 'c', 'c']],
  [{ ids: 'fresh' }, ['c_0', 'c_1', 'c_2']],
  [{ ids: 'never' }, [undefined, undefined, undefined]],
] as const)('with the naming %j, the pieces of a call have the ids %j', async (naming, ids) => {
  await start([answer(call('ls', {}, { callId: 'c', chunk: 1, ...naming }))]);
  const body = await played();
  expect(pieces(body).map((piece) => (piece as { id?: string }).id)).toEqual(ids);
  expect(chunks(body).at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
});

test('a call can be sent in one piece, with an object as arguments, without an index, and with its name in every piece', async () => {
  await start([
    answer([
      call('a', { n: 1 }, { callId: '1', isWhole: true }),
      call('b', { n: 2 }, { callId: '2', asObject: true, index: 'none' }),
      call('c', { n: 3 }, { callId: '3', repeatsName: true, index: 'zero' }),
    ]),
  ]);
  expect(pieces(await played())).toEqual([
    { index: 0, id: '1', name: 'a', arguments: '{"n":1}' },
    { id: '2', name: 'b', arguments: { n: 2 } },
    { index: 0, id: '3', name: 'c', arguments: '' },
    { index: 0, name: 'c', arguments: '{"n":3}' },
  ]);
});

test('if calls are interleaved, their pieces alternate', async () => {
  await start([answer(interleaved(call('a', 'xy', { chunk: 1 }), call('b', 'z')))]);
  const seen = pieces(await played()) as { index?: number; arguments: string }[];
  expect(seen.map((piece) => `${piece.index}${piece.arguments}`)).toEqual([
    '0',
    '1',
    '0x',
    '1z',
    '0y',
  ]);
});

test('each chunk or no chunk can contain usage, and the end of the stream can lack the finish reason and `[DONE]`', async () => {
  await start([
    answer('a', { usagePlace: 'each', isMarked: false }),
    answer('b', { usagePlace: 'never', finishReason: null }),
  ]);
  const asked = { stream_options: { include_usage: true } };
  const everywhere = await played(asked);
  expect(chunks(everywhere).filter(({ usage }) => usage == null)).toEqual([]);
  expect(everywhere).not.toContain('[DONE]');
  const nowhere = await played(asked);
  expect(nowhere).not.toContain('usage');
  expect(chunks(nowhere).filter(({ choices }) => choices[0]?.finish_reason != null)).toEqual([]);
});

test('lines can have other line ends, and comments and empty deltas can be between them', async () => {
  await start([answer('a', { lineEnd: '\r\n', comment: 'ping', hasEmpties: true })]);
  const body = await played();
  expect(body.startsWith(': ping\r\n\r\ndata: {')).toBe(true);
  expect(deltas(body)).toContainEqual({ content: null });
  expect(said(body)).toBe('a');
});

test('an event can be sent in pieces that split characters', async () => {
  await start([answer('é→😀', { pieceBytes: 1 })]);
  const reader = (await post()).body!.getReader();
  const read: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read())
    read.push(next.value);
  expect(read.length).toBeGreaterThan(10);
  expect(said(Buffer.concat(read).toString())).toBe('é→😀');
});

test('a stream can end early with an error object, a cut, or any other value', async () => {
  await start([
    answer(
      ['a', 'b'].map((one) => text(one)),
      { error: { message: 'broken' } },
    ),
    answer(chunk('no JSON')),
    answer(text(['half', cut])),
  ]);
  expect(await played()).toMatch(/data: \{"error":\{"message":"broken"\}\}\n\n$/);
  expect(await played()).toContain('data: no JSON\n\n');
  await expect(played()).rejects.toThrow('terminated');
});

test('errors have OpenAI’s format or another server’s format', async () => {
  await start([
    httpError(429, 'Slow down', { headers: { 'retry-after': '2' }, code: 'rate_limit_exceeded' }),
    otherError(500, { detail: 'x' }),
  ]);
  const limited = await post();
  expect(limited.headers.get('retry-after')).toBe('2');
  expect(await limited.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  expect(await (await post()).json()).toEqual({ detail: 'x' });
  expect(await (await post()).json()).toMatchObject({
    error: { message: 'The script has no reply for the prompt "hi".' },
  });
});

test('the server lists models, and does not offer the Responses API', async () => {
  await start([]);
  const models = await (await fetch(`${api?.url}/models`)).json();
  expect(models).toMatchObject({ data: [{ id: 'scripted-model' }, { id: 'scripted-model-mini' }] });
  const response = await fetch(`${api?.url}/responses`, { method: 'POST', body: '{}' });
  expect([response.status, await response.text()]).toEqual([404, '404 page not found']);
  expect(api?.unknown).toEqual(['POST /v1/responses']);
});

test('if a client disconnects during its request, the server reports this', async () => {
  const silence = gate();
  await start([held(silence, answer('never'))]);
  const leaving = new AbortController();
  void silence.reached.then(() => leaving.abort());
  await expect(post({}, leaving.signal)).rejects.toThrow('aborted');
  expect(await api!.requests[0]!.left).toBeUndefined();
});

test('byPrompt replies to each prompt from the first reply of its entry, and continues after tool results', async () => {
  await start(byPrompt({ count: [answer('one'), answer('two')], other: [answer('else')] }));
  const user = (content: string) => ({ role: 'user', content });
  const ask = async (...messages: object[]): Promise<string> => said(await played({ messages }));
  expect(await ask(user('count'))).toBe('one');
  expect(await ask(user('other'))).toBe('else');
  const calls = { role: 'assistant', content: null, tool_calls: [] };
  const output = { role: 'tool', tool_call_id: 'c', content: 'ran' };
  expect(await ask(user('count'), calls, output)).toBe('two');
  expect(api?.requests.at(-1)?.toolResults).toEqual({ c: 'ran' });
  expect(await ask(user('count'), calls, output, user('count'))).toBe('one');
  const seen = await api!.request(({ promptIndex }) => promptIndex === 3);
  expect(seen.prompt).toBe('count');
});
