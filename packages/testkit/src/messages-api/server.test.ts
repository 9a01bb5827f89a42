import { afterEach, expect, test } from 'vitest';
import { gate } from '../scripted-server/gate.ts';
import { cut } from '../scripted-server/stream-incident.ts';
import { held, times } from '../scripted-server/script.ts';
import { apiError, given, reply, streamError, text, thinking, toolUse } from './reply.ts';
import { byPrompt, withSubagents, type Script } from './script.ts';
import { startMessagesApi, type MessagesApi } from './server.ts';

let api: MessagesApi | undefined;

afterEach(async () => {
  await api?.close();
  api = undefined;
});

const start = async (script: Script): Promise<MessagesApi> =>
  (api = await startMessagesApi({ script }));

const tools = [{ name: 'Bash' }];
const user = (content: unknown) => ({ role: 'user', content });

function post(
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${api?.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      model: 'm',
      max_tokens: 100,
      stream: true,
      tools,
      messages: [user('hi')],
      ...body,
    }),
  });
}

/** Returns the data of each server-sent event. */
const events = (body: string): Record<string, unknown>[] =>
  body
    .split('\n\n')
    .flatMap((event) => (/^data: (.*)$/m.exec(event) ?? []).slice(1))
    .map((data) => JSON.parse(data));

const said = (body: string): string =>
  events(body)
    .map((event) => (event['delta'] as { text?: string } | undefined)?.text ?? '')
    .join('');

test('text is streamed in chunks, between the Messages API’s start and stop events', async () => {
  await start([reply(text('abcdef', { chunk: 2 }))]);
  const body = await (await post({})).text();
  expect(events(body).map((event) => event['type'])).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  expect(said(body)).toBe('abcdef');
});

test('thinking has a signature; a tool call arrives as partial JSON, and the stop reason is tool_use', async () => {
  await start([
    reply([thinking('hm', { signature: 'sig' }), toolUse('Bash', { command: 'ls' }, { chunk: 5 })]),
  ]);
  const seen = events(await (await post({})).text());
  const deltas = seen.map((event) => (event['delta'] ?? {}) as Record<string, string>);
  expect(deltas).toContainEqual({ type: 'signature_delta', signature: 'sig' });
  expect(JSON.parse(deltas.map((delta) => delta['partial_json'] ?? '').join(''))).toEqual({
    command: 'ls',
  });
  expect(deltas).toContainEqual({ stop_reason: 'tool_use', stop_sequence: null });
});

test('a gate holds the model in the middle of a text until the test opens it', async () => {
  const held = gate();
  await start([reply(text(['before ', held, 'after']))]);
  const response = await post({});
  await held.reached;
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let body = '';
  while (!body.includes('before ')) body += (await reader.read()).value ?? '';
  expect(body).not.toContain('after');
  held.open();
  for (let next = await reader.read(); !next.done; next = await reader.read()) body += next.value;
  expect(said(body)).toBe('before after');
});

test('a held reply sends nothing until it is released', async () => {
  const silence = gate();
  await start([held(silence, reply('at last'))]);
  const response = post({});
  await silence.reached;
  silence.open();
  expect(said(await (await response).text())).toBe('at last');
});

test('a cut ends the connection after the text before the cut was sent', async () => {
  await start([reply(text(['half', cut, 'never']))]);
  const response = await post({});
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let body = '';
  const readAll = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) body += next.value;
  };
  await expect(readAll()).rejects.toThrow('terminated');
  expect(said(body)).toBe('half');
});

test('an error inside a stream ends the stream', async () => {
  await start([reply(text(['half', streamError('overloaded_error', 'Overloaded')]))]);
  const seen = events(await (await post({})).text());
  expect(seen.at(-1)).toEqual({
    type: 'error',
    error: { type: 'overloaded_error', message: 'Overloaded' },
  });
});

test('if blocks are interleaved, all blocks start first, and then their parts alternate', async () => {
  await start([
    reply([text(['a', 'b']), toolUse('Bash', { x: 1 }), thinking('hm')], { isInterleaved: true }),
  ]);
  const seen = events(await (await post({})).text());
  const places = seen.flatMap(({ type, index }) => (index === undefined ? [] : [[type, index]]));
  expect(places).toEqual([
    ['content_block_start', 0],
    ['content_block_start', 1],
    ['content_block_start', 2],
    ['content_block_delta', 0],
    ['content_block_delta', 1],
    ['content_block_delta', 2],
    ['content_block_delta', 0],
    ['content_block_stop', 0],
    ['content_block_stop', 1],
    ['content_block_delta', 2],
    ['content_block_stop', 2],
  ]);
});

test('a block of another kind is sent completely, and a refusal contains its details', async () => {
  const redacted = { type: 'redacted_thinking', data: 'x' };
  const stopDetails = { type: 'refusal', explanation: 'No.' };
  const odd = { type: 'odd_delta' };
  await start([reply([given(redacted, [odd])], { stopReason: 'refusal', stopDetails })]);
  const seen = events(await (await post({})).text());
  expect(seen).toContainEqual({ type: 'content_block_start', index: 0, content_block: redacted });
  expect(seen).toContainEqual({ type: 'content_block_delta', index: 0, delta: odd });
  expect(seen.at(-2)).toMatchObject({
    delta: { stop_reason: 'refusal', stop_details: stopDetails },
  });
});

test('the models are listed in pages', async () => {
  const models = ['a', 'b', 'c'].map((id) => ({ id }));
  api = await startMessagesApi({ script: [], models, modelsPerPage: 2 });
  const page = async (query: string): Promise<unknown> =>
    (await fetch(`${api?.url}/v1/models${query}`)).json();
  expect(await page('?limit=1000')).toMatchObject({ has_more: true, last_id: 'b' });
  expect(await page('?limit=1000&after_id=b')).toMatchObject({
    data: [{ type: 'model', id: 'c' }],
    has_more: false,
  });
});

test('the server notices that a client disconnects before its answer is complete', async () => {
  const waiting = gate();
  const { left, requests } = await start([reply(text(['half', waiting, 'never']))]);
  const aborter = new AbortController();
  const body = { model: 'm', stream: true, tools, messages: [user('hi')] };
  const response = await fetch(`${api?.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: aborter.signal,
  });
  await waiting.reached;
  aborter.abort();
  await expect(response.text()).rejects.toThrow('aborted');
  await left(requests[0]!);
});

test('HTTP errors are sent as often as the script says, in the API’s format', async () => {
  await start([...times(2, apiError(529, 'Busy', { 'retry-after': '3' })), reply('fine')]);
  const answers = [await post({}), await post({}), await post({})];
  expect(answers.map((answer) => answer.status)).toEqual([529, 529, 200]);
  expect(answers[0]?.headers.get('retry-after')).toBe('3');
  expect(await answers[0]?.json()).toMatchObject({
    type: 'error',
    error: { type: 'overloaded_error' },
  });
});

test('a request without streaming receives the whole message at once', async () => {
  await start([reply([text('whole'), toolUse('Bash', { command: 'ls' }, { id: 'toolu_1' })])]);
  expect(await (await post({ stream: false })).json()).toMatchObject({
    content: [
      { type: 'text', text: 'whole' },
      { type: 'tool_use', id: 'toolu_1', input: { command: 'ls' } },
    ],
    stop_reason: 'tool_use',
  });
});

test('the client’s own calls use no reply of the script', async () => {
  await start([reply('scripted')]);
  const count = await fetch(`${api?.url}/v1/messages/count_tokens`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [user('hi')], tools }),
  });
  expect(await count.json()).toEqual({ input_tokens: 100 });
  await post({ max_tokens: 1 });
  await post({ tools: [], system: 'Write a title' });
  expect(said(await (await post({})).text())).toBe('scripted');
});

test('if a script is too short, the error says so', async () => {
  await start([]);
  expect(await (await post({})).json()).toMatchObject({
    error: { message: 'The script has no reply for the prompt "hi".' },
  });
});

test('each time that a session sends a prompt, byPrompt plays the replies of the prompt’s entry from the first reply on', async () => {
  await start(byPrompt({ count: [reply('one'), reply('two')], other: [reply('else')] }));
  const ask = async (session: string, messages: unknown[]): Promise<string> =>
    said(await (await post({ messages }, { 'x-claude-code-session-id': session })).text());
  const first = [user('count')];
  const toolResult = user([{ type: 'tool_result', tool_use_id: 't', content: 'x' }]);
  const afterTool = [...first, { role: 'assistant', content: 'one' }, toolResult];
  expect(await ask('a', first)).toBe('one');
  expect(await ask('b', first)).toBe('one');
  // The request does not contain the earlier messages, as from a client that has lost them.
  expect(await ask('b', [user('other')])).toBe('else');
  expect(await ask('a', afterTool)).toBe('two');
  expect(await ask('a', [...afterTool, { role: 'assistant', content: 'two' }, user('count')])).toBe(
    'one',
  );
});

test('if the previous turn was stopped before the model answered, byPrompt answers a prompt from the first reply on', async () => {
  await start(byPrompt({ count: [reply('one')], else: [reply('else')] }));
  const stopped = (...texts: string[]) =>
    user(
      texts.flatMap((text) => [
        { type: 'text', text: '[Request interrupted by user]' },
        { type: 'text', text },
      ]),
    );
  const ask = async (message: unknown) => said(await (await post({ messages: [message] })).text());

  expect(await ask(user('count'))).toBe('one');
  expect(await ask(stopped('count'))).toBe('one');
  expect(await ask(stopped('count', 'else'))).toBe('else');
});

test('withSubagents answers a subagent’s calls by the subagent’s prompt', async () => {
  await start(withSubagents([reply('main')], { errand: [reply('sub')] }));
  const sub = await post({ messages: [user('an errand')] }, { 'x-claude-code-agent-id': 'a1' });
  expect(said(await sub.text())).toBe('sub');
  expect(said(await (await post({})).text())).toBe('main');
  expect(api?.requests.map((request) => request.kind)).toEqual(['subagent', 'main']);
});

test('a test can wait for a request, past or future', async () => {
  await start([reply('one'), reply('two')]);
  const coming = api!.request((request) => request.prompt === 'later');
  await post({});
  await post({ messages: [user('<system-reminder>x</system-reminder>'), user('later')] });
  expect((await coming).promptIndex).toBe(0);
  expect((await api!.request((request) => request.prompt === 'hi')).promptIndex).toBe(0);
});
