import { afterEach, expect, test } from 'vitest';
import { gate } from '../scripted-server/gate.ts';
import { cut } from '../scripted-server/stream-incident.ts';
import { held, times } from '../scripted-server/script.ts';
import {
  answer,
  customCall,
  errorEvent,
  failed,
  functionCall,
  httpError,
  incomplete,
  message,
  reasoning,
  refusal,
} from './reply.ts';
import { byModelPrompt, type ModelScript } from './script.ts';
import { startResponsesApi, type ResponsesApi } from './server.ts';

let api: ResponsesApi | undefined;

afterEach(async () => {
  await api?.close();
  api = undefined;
});

const start = async (script: ModelScript): Promise<ResponsesApi> =>
  (api = await startResponsesApi({ script }));

const user = (text: string) => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});

const post = (body: Record<string, unknown> = {}): Promise<Response> =>
  fetch(`${api?.url}/responses`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', stream: true, input: [user('hi')], ...body }),
  });

/** Returns the data of each server-sent event. */
const events = (body: string): Record<string, unknown>[] =>
  body
    .split('\n\n')
    .flatMap((event) => (/^data: (.*)$/m.exec(event) ?? []).slice(1))
    .map((data) => JSON.parse(data));

const deltas = (body: string, type: string): unknown[] =>
  events(body)
    .filter((event) => event['type'] === type)
    .map((event) => event['delta']);

const said = (body: string): string => deltas(body, 'response.output_text.delta').join('');

test('text is streamed in chunks, between the Responses API’s start and end events', async () => {
  await start([answer(message('abcdef', { chunk: 2 }))]);
  const seen = events(await (await post()).text());
  expect(seen.map((event) => event['type'])).toEqual([
    'response.created',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(seen.map((event) => event['sequence_number'])).toEqual(seen.map((_event, index) => index));
  expect(seen.at(-1)).toMatchObject({
    response: { output: [{ content: [{ text: 'abcdef' }] }], usage: { total_tokens: 120 } },
  });
});

test('a reasoning summary has several parts, and each kind of tool has its own kind of arguments', async () => {
  await start([
    answer([
      reasoning(['one', 'two']),
      functionCall('exec_command', { cmd: 'ls' }, { chunk: 5, callId: 'call_a' }),
      customCall('apply_patch', '*** Begin Patch', { callId: 'call_b' }),
    ]),
  ]);
  const body = await (await post()).text();
  expect(deltas(body, 'response.reasoning_summary_text.delta')).toEqual(['one', 'two']);
  expect(deltas(body, 'response.function_call_arguments.delta').join('')).toBe('{"cmd":"ls"}');
  expect(deltas(body, 'response.custom_tool_call_input.delta')).toEqual(['*** Begin Patch']);
  expect(events(body).at(-1)).toMatchObject({
    response: {
      output: [
        { summary: [{ text: 'one' }, { text: 'two' }] },
        { type: 'function_call', call_id: 'call_a', arguments: '{"cmd":"ls"}' },
        { type: 'custom_tool_call', call_id: 'call_b', input: '*** Begin Patch' },
      ],
    },
  });
});

test('a gate holds the model in the middle of a text until the test opens it', async () => {
  const middle = gate();
  await start([answer(message(['before ', middle, 'after']))]);
  const response = await post();
  await middle.reached;
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let body = '';
  while (!body.includes('before ')) body += (await reader.read()).value ?? '';
  expect(body).not.toContain('after');
  middle.open();
  for (let next = await reader.read(); !next.done; next = await reader.read()) body += next.value;
  expect(said(body)).toBe('before after');
});

test('a held reply sends nothing until it is released', async () => {
  const silence = gate();
  await start([held(silence, answer('at last'))]);
  const response = post();
  await silence.reached;
  silence.open();
  expect(said(await (await response).text())).toBe('at last');
});

test('a cut ends the connection after the text before the cut was sent', async () => {
  await start([answer(message(['half', cut, 'never']))]);
  const reader = (await post()).body!.pipeThrough(new TextDecoderStream()).getReader();
  let body = '';
  const readAll = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) body += next.value;
  };
  await expect(readAll()).rejects.toThrow('terminated');
  expect(said(body)).toBe('half');
});

test('an answer can fail, or end before it is complete, after its text was sent', async () => {
  await start([
    failed('server_error', 'Broken', message('half')),
    incomplete('max_output_tokens', 'ha'),
  ]);
  const broken = await (await post()).text();
  expect(said(broken)).toBe('half');
  expect(events(broken).at(-1)).toMatchObject({
    type: 'response.failed',
    response: { error: { code: 'server_error', message: 'Broken' } },
  });
  expect(events(await (await post()).text()).at(-1)).toMatchObject({
    type: 'response.incomplete',
    response: { incomplete_details: { reason: 'max_output_tokens' } },
  });
});

test('HTTP errors are sent as often as the script says, in the API’s format', async () => {
  await start([
    ...times(2, httpError(429, 'Slow down', { headers: { 'retry-after': '0' } })),
    answer('fine'),
  ]);
  const answers = [await post(), await post(), await post()];
  expect(answers.map(({ status }) => status)).toEqual([429, 429, 200]);
  expect(answers[0]?.headers.get('retry-after')).toBe('0');
  expect(await answers[0]?.json()).toMatchObject({
    error: { type: 'requests', message: 'Slow down' },
  });
});

test('if a script is too short, or an address is wrong, the error says so', async () => {
  await start([]);
  expect(await (await post()).json()).toMatchObject({
    error: { message: 'The script has no reply for the prompt "hi".' },
  });
  expect((await fetch(`${api?.url}/files`)).status).toBe(404);
});

test('for any number of sessions, byModelPrompt replies to each prompt from the first reply of its entry', async () => {
  await start(byModelPrompt({ count: [answer('one'), answer('two')], other: [answer('else')] }));
  const ask = async (session: string, input: unknown[]): Promise<string> =>
    said(await (await post({ input, prompt_cache_key: session })).text());
  const first = [user('<environment_context>x</environment_context>'), user('count')];
  const call = { type: 'function_call', name: 'f', call_id: 'c', arguments: '{}' };
  const afterTool = [...first, call, { type: 'function_call_output', call_id: 'c', output: 'ran' }];
  expect(await ask('a', first)).toBe('one');
  expect(await ask('b', first)).toBe('one');
  expect(await ask('b', [user('other')])).toBe('else');
  expect(await ask('a', afterTool)).toBe('two');
  expect(api?.requests.at(-1)?.toolResults).toEqual({ c: 'ran' });
  expect(await ask('a', [...afterTool, user('count')])).toBe('one');
});

test('a test can wait for a request, past or future', async () => {
  await start([answer('one'), answer('two')]);
  const coming = api!.request(({ prompt }) => prompt === 'later');
  await post();
  await post({ input: [user('<environment_context>x</environment_context>'), user('later')] });
  expect((await coming).promptIndex).toBe(1);
  expect((await api!.request(({ prompt }) => prompt === 'hi')).promptIndex).toBe(0);
});

test('a call of an MCP server’s tool is sent again until the tool exists', async () => {
  await start([answer('calling'), answer('called')]);
  const ask = async (output: string): Promise<string> => {
    const input = [user('hi'), { type: 'function_call_output', call_id: 'c', output }];
    return said(await (await post({ input })).text());
  };
  expect(said(await (await post()).text())).toBe('calling');
  expect(await ask('unsupported call: mcp__owngreet')).toBe('calling');
  expect(await ask('unsupported call: mcp__owngreet')).toBe('calling');
  expect(await ask('Hello!')).toBe('called');
});

test('the model can decline to answer, and its reasoning can be encrypted or readable', async () => {
  await start([answer([reasoning(['why'], { encrypted: 'secret' }), refusal('I will not.')])]);
  const body = await (await post()).text();
  expect(deltas(body, 'response.refusal.delta')).toEqual(['I will not.']);
  expect(events(body).at(-1)).toMatchObject({
    response: {
      output: [
        { encrypted_content: 'secret' },
        { content: [{ type: 'refusal', refusal: 'I will not.' }] },
      ],
    },
  });
});

test('a stream can end early with an error event', async () => {
  await start([errorEvent('server_error', 'Broken', message('half'))]);
  const body = await (await post()).text();
  expect(said(body)).toBe('half');
  expect(events(body).at(-1)).toMatchObject({
    type: 'error',
    code: 'server_error',
    message: 'Broken',
  });
});

test('the server lists its models', async () => {
  api = await startResponsesApi({ script: [], models: ['one', { id: 'two', size: 2 }] });
  expect(await (await fetch(`${api.url}/models`)).json()).toMatchObject({
    data: [
      { id: 'one', object: 'model' },
      { id: 'two', size: 2 },
    ],
  });
});

test('if a client disconnects during its request, the server reports this', async () => {
  const middle = gate();
  await start([answer(message(['before', middle]))]);
  const leaving = new AbortController();
  const response = await fetch(`${api?.url}/responses`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', stream: true, input: 'hi' }),
    signal: leaving.signal,
  });
  await middle.reached;
  leaving.abort();
  await expect(response.text()).rejects.toThrow('aborted');
  expect(await api!.requests[0]!.left).toBeUndefined();
});
