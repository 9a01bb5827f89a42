import type { EventPayload } from '@liminal/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { doneItems, payloadsOf, streamOf } from '../../../../testing/collected-turn.ts';
import { translateTurn } from '../../../../testing/translated-turn.ts';
import { ResponsesTranslator } from './translate.ts';

const now = () => '2026-01-01T00:00:00.000Z';

const play = (events: Iterable<unknown>): Promise<EventPayload[]> =>
  payloadsOf(
    translateTurn(
      streamOf(events),
      { turnId: 't', modelId: 'gpt-5', now },
      (writer) => new ResponsesTranslator(writer),
    ),
  );

/** An event of the official API reference. */
const event = (type: string, data: object = {}) => ({ type: `response.${type}`, ...data });
const at = (output_index: number, item_id: string) => ({ output_index, item_id });
const added = (output_index: number, item: object) =>
  event('output_item.added', { output_index, item });
const done = (output_index: number, item: object) =>
  event('output_item.done', { output_index, item });
const completed = (more: object = {}) =>
  event('completed', {
    response: { id: 'resp_1', object: 'response', status: 'completed', ...more },
  });

const message = (text: string, more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...more,
});
const textDelta = (delta: string, content_index = 0) =>
  event('output_text.delta', { ...at(0, 'msg_1'), content_index, delta });

const call = (text: string) => ({
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  arguments: text,
  call_id: 'call_1',
  name: 'ls',
});

test('a message grows with its deltas, and ends with its finished item; the turn ends with the finish reason and the token counts', async () => {
  const usage = {
    input_tokens: 36,
    input_tokens_details: { cached_tokens: 30 },
    output_tokens: 87,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 123,
  };
  const seen = await play([
    event('created', { response: { id: 'resp_1', status: 'in_progress', output: [] } }),
    event('in_progress', { response: {} }),
    added(0, { ...message(''), status: 'in_progress', content: [] }),
    event('content_part.added', { ...at(0, 'msg_1'), content_index: 0, part: {} }),
    textDelta('Hi'),
    textDelta(' there!'),
    event('output_text.done', { ...at(0, 'msg_1'), content_index: 0, text: 'Hi there!' }),
    event('content_part.done', { ...at(0, 'msg_1'), content_index: 0, part: {} }),
    done(0, message('Hi there!')),
    completed({ output: [message('Hi there!')], usage }),
  ]);
  const counted = { inputTokens: 36, outputTokens: 87, cacheReadInputTokens: 30 };
  expect(seen).toEqual([
    { type: 'response_start', modelId: 'gpt-5', providerId: 'openai', trigger: 'user' },
    { type: 'item_start', itemId: 'msg_1', itemType: 'message', origin: 'agent' },
    { type: 'item_delta', itemId: 'msg_1', deltaContent: 'Hi' },
    { type: 'item_delta', itemId: 'msg_1', deltaContent: ' there!' },
    {
      type: 'item_done',
      itemId: 'msg_1',
      finalItem: { type: 'message', id: 'msg_1', content: 'Hi there!', origin: 'agent' },
    },
    { type: 'usage_update', usage: counted },
    { type: 'response_done', status: 'completed', finishReason: 'completed', usage: counted },
  ]);
});

test('the parts of a reasoning summary become paragraphs, and encrypted content is stored', async () => {
  const item = { id: 'rs_1', type: 'reasoning', summary: [] };
  const delta = (summary_index: number, text: string) =>
    event('reasoning_summary_text.delta', { ...at(0, 'rs_1'), summary_index, delta: text });
  const summary = ['One.', 'Two.'].map((text) => ({ type: 'summary_text', text }));
  const seen = await play([
    added(0, item),
    event('reasoning_summary_part.added', { ...at(0, 'rs_1'), summary_index: 0, part: {} }),
    delta(0, 'On'),
    delta(0, 'e.'),
    delta(1, 'Two.'),
    done(0, { ...item, summary, encrypted_content: 'gAAAA' }),
    completed(),
  ]);
  expect(seen.flatMap((one) => (one.type === 'item_delta' ? [one.deltaContent] : []))).toEqual([
    'On',
    'e.',
    '\n\nTwo.',
  ]);
  expect(doneItems(seen)).toEqual([
    {
      type: 'reasoning',
      id: 'rs_1',
      content: 'One.\n\nTwo.',
      origin: 'agent',
      raw: { openai: { id: 'rs_1', encrypted_content: 'gAAAA' } },
    },
  ]);
});

test('the full reasoning text of open models is shown', async () => {
  const seen = await play([
    event('reasoning_text.delta', { ...at(0, 'rs_1'), content_index: 0, delta: 'Hm.' }),
    completed(),
  ]);
  expect(doneItems(seen)).toMatchObject([{ type: 'reasoning', content: 'Hm.' }]);
});

test('a call grows with its streamed arguments, and ends with the content of its finished item', async () => {
  const delta = (text: string) =>
    event('function_call_arguments.delta', { ...at(0, 'fc_1'), delta: text });
  const seen = await play([
    added(0, { ...call(''), status: 'in_progress' }),
    delta('{"p":'),
    delta('1}'),
    event('function_call_arguments.done', { ...at(0, 'fc_1'), arguments: '{"p":1}' }),
    done(0, call('{"p":1}')),
    completed(),
  ]);
  expect(seen.slice(1, -1)).toEqual([
    {
      type: 'item_start',
      itemId: 'fc_1',
      itemType: 'function_call',
      name: 'ls',
      callId: 'call_1',
    },
    { type: 'item_delta', itemId: 'fc_1', deltaContent: '{"p":' },
    { type: 'item_delta', itemId: 'fc_1', deltaContent: '1}' },
    {
      type: 'item_done',
      itemId: 'fc_1',
      finalItem: {
        type: 'function_call',
        id: 'fc_1',
        callId: 'call_1',
        name: 'ls',
        arguments: '{"p":1}',
        origin: 'agent',
      },
    },
  ]);
});

test('a refusal becomes a message and the finish reason', async () => {
  const refusal = { ...message(''), content: [{ type: 'refusal', refusal: 'I will not.' }] };
  const streamed = [
    added(0, message('', { content: [] })),
    event('refusal.delta', { ...at(0, 'msg_1'), content_index: 0, delta: 'I will not.' }),
    done(0, refusal),
    completed(),
  ];
  const whole = [done(0, refusal), completed()];
  for (const events of [streamed, whole]) {
    const seen = await play(events);
    expect(doneItems(seen)).toMatchObject([{ content: 'I will not.' }]);
    expect(seen.at(-1)).toMatchObject({ type: 'response_done', finishReason: 'refusal' });
  }
});

test('an incomplete answer ends the turn with the reason', async () => {
  const response = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  const seen = await play([textDelta('ha'), event('incomplete', { response })]);
  expect(doneItems(seen)).toMatchObject([{ content: 'ha' }]);
  expect(seen.at(-1)).toMatchObject({ type: 'response_done', finishReason: 'max_output_tokens' });
});

test.each([
  [
    event('failed', {
      response: { status: 'failed', error: { code: 'server_error', message: 'Broken' } },
    }),
    'MODEL_UNAVAILABLE',
  ],
  [{ type: 'error', code: 'rate_limit_exceeded', message: 'Broken', param: null }, 'RATE_LIMIT'],
  [
    { type: 'error', error: { code: 'context_length_exceeded', message: 'Broken' } },
    'CONTEXT_LENGTH',
  ],
  [event('error', { error: { message: 'Broken' } }), 'MODEL_ERROR'],
  [{ error: { message: 'Broken' } }, 'MODEL_ERROR'],
  [event('cancelled', { response: { status: 'cancelled', error: 'Broken' } }), 'MODEL_ERROR'],
])('the error %j within a stream ends the turn as an error', async (said, code) => {
  const seen = await play([textDelta('half'), said]);
  expect(seen.slice(-2)).toMatchObject([
    { type: 'item_error', itemId: 'msg_1' },
    { type: 'response_error', error: { code, message: expect.stringContaining('Broken') } },
  ]);
});

test.each(['failed', 'cancelled'])(
  'an answer with the status %s ends the turn as an error, even without a reason',
  async (status) => {
    expect((await play([textDelta('half'), event(status)])).at(-1)).toMatchObject({
      type: 'response_error',
      error: { code: 'MODEL_ERROR', message: expect.stringContaining(`status is ${status}`) },
    });
    const whole = [{ object: 'response', status, output: [] }];
    expect((await play(whole)).at(-1)).toMatchObject({ type: 'response_error' });
  },
);

test('a stream that ends without its last event counts as broken off', async () => {
  const seen = await play([textDelta('half'), done(0, message('half'))]);
  expect(seen.at(-1)).toMatchObject({
    type: 'response_error',
    error: { code: 'CONNECTION_FAILED' },
  });
});

test('unknown items and events are stored, each only once', async () => {
  const drawing = { id: 'ig_1', type: 'image_generation_call', status: 'completed' };
  const strange = event('strange', { value: 1 });
  const seen = await play([
    added(0, { ...drawing, status: 'in_progress' }),
    strange,
    done(0, drawing),
    done(1, { ...drawing, id: 'ig_2' }),
    event('output_text.delta', { ...at(2, 'msg_1'), content_index: 0, delta: 'a' }),
    completed({ output: [drawing, { ...drawing, id: 'ig_2' }, message('a')] }),
  ]);
  expect(doneItems(seen)).toMatchObject([
    { content: 'a', raw: [strange, drawing, { id: 'ig_2' }] },
  ]);
});

const search = (action: object, more: object = {}) => ({
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action,
  ...more,
});

test('a web search is shown when it begins, and is a call with its search words and results', async () => {
  const item = search({
    type: 'search',
    query: 'a',
    queries: ['a', 'b'],
    sources: [
      { type: 'url', url: 'https://a.example/' },
      { type: 'url', url: 'https://b.example/' },
    ],
  });
  const seen = await play([
    added(0, { id: 'ws_1', type: 'web_search_call', status: 'in_progress' }),
    event('web_search_call.in_progress', at(0, 'ws_1')),
    event('web_search_call.searching', at(0, 'ws_1')),
    event('web_search_call.completed', at(0, 'ws_1')),
    done(0, item),
    completed({ output: [item] }),
  ]);
  expect(seen[1]).toMatchObject({ type: 'item_start', title: 'Search the web', kind: 'fetch' });
  expect(doneItems(seen)).toEqual([
    {
      type: 'function_call',
      id: 'ws_1',
      callId: 'ws_1',
      name: 'web_search',
      kind: 'fetch',
      title: 'Search the web for “a”, “b”',
      arguments: '{"query":"a","queries":["a","b"]}',
      origin: 'agent',
      raw: { openai: item },
    },
    {
      type: 'function_call_output',
      id: 'ws_1:output',
      callId: 'ws_1',
      output: 'https://a.example/\n\nhttps://b.example/',
      success: true,
      origin: 'system',
    },
  ]);
});

test.each([
  [search({ type: 'open_page', url: 'https://a.example/' }), 'Open https://a.example/', '', true],
  [
    search({ type: 'find_in_page', url: 'https://a.example/', pattern: 'x' }),
    'Find “x” in https://a.example/',
    '',
    true,
  ],
  [search({}, { action: null }), 'Search the web', '', true],
  [
    search({ type: 'search', query: 'x' }, { status: 'failed' }),
    'Search the web for “x”',
    'The search failed.',
    false,
  ],
  [
    search({ type: 'search' }, { status: 'failed', error: { message: 'Too many.' } }),
    'Search the web',
    'The search failed: Too many.',
    false,
  ],
])('an action on the web is shown: %j', async (item, title, output, success) => {
  const [call, result] = doneItems(await play([done(0, item), completed()]));
  expect([call, result]).toMatchObject([{ title }, { output, success }]);
});

test('a message keeps the model’s citations and the phase', async () => {
  const annotation = { type: 'url_citation', url: 'https://example.org' };
  const content = [{ type: 'output_text', text: 'a', annotations: [annotation] }];
  expect(
    doneItems(await play([done(0, message('a', { content, phase: 'commentary' })), completed()])),
  ).toMatchObject([
    { raw: { openai: { id: 'msg_1', phase: 'commentary', annotations: [annotation] } } },
  ]);
});

test('content that was not streamed is taken from the finished item, or from the whole answer', async () => {
  const items = [message('abc'), call('{}')];
  const late = [textDelta('ab'), done(0, items[0]!), done(1, items[1]!), completed()];
  const last = [textDelta('a'), done(0, items[0]!), completed({ output: items })];
  const whole = [{ object: 'response', status: 'completed', output: items }];
  for (const events of [late, last, whole]) {
    expect(doneItems(await play(events))).toMatchObject([
      { type: 'message', content: 'abc' },
      { type: 'function_call', callId: 'call_1', arguments: '{}' },
    ]);
  }
});

test('if an item’s final text differs from the streamed text, the item ends with the final text', async () => {
  expect(
    doneItems(await play([textDelta('xyz'), done(0, message('abc')), completed()])),
  ).toMatchObject([{ content: 'abc' }]);
  const cut = { ...message(''), content: [] };
  expect(doneItems(await play([textDelta('xyz'), done(0, cut), completed()]))).toMatchObject([
    { content: 'xyz' },
  ]);
});

test('an unannounced call gets its name from its finished item', async () => {
  const delta = event('function_call_arguments.delta', { ...at(0, 'fc_1'), delta: '{}' });
  expect(doneItems(await play([delta, done(0, call('{}')), completed()]))).toMatchObject([
    { id: 'fc_1', name: 'ls', arguments: '{}' },
  ]);
});

test('a call without an id gets an id', async () => {
  const { call_id: _callId, ...nameless } = call('{}');
  expect(doneItems(await play([done(0, nameless), completed()]))).toMatchObject([
    { id: 'fc_1', callId: expect.stringMatching(/^call_[0-9a-f]{32}$/) },
  ]);
});

/** A text, cut at arbitrary places. */
const cutText = fc.array(fc.string({ unit: 'binary', maxLength: 8 }), { maxLength: 6 });
const output = fc.record({
  kind: fc.constantFrom('message', 'reasoning', 'function_call'),
  pieces: cutText,
  isAnnounced: fc.boolean(),
  /** The number of pieces at the end that are not streamed. */
  lost: fc.nat(2),
});

test('answers may be cut at any place: the content of their items is written once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(output, { maxLength: 4 }), async (outputs) => {
      const names = {
        message: 'output_text',
        reasoning: 'reasoning_text',
        function_call: 'function_call_arguments',
      } as const;
      const wholes = outputs.map(({ kind, pieces }, index) => {
        const text = pieces.join('');
        const item = { id: `${kind}_${index}`, type: kind };
        if (kind === 'function_call') {
          return { ...item, call_id: `call_${index}`, name: 'ls', arguments: text };
        }
        return { ...item, content: [{ type: 'text', text }] };
      });
      const events = outputs.flatMap(({ kind, pieces, isAnnounced, lost }, index) => {
        const item = wholes[index]!;
        const begun = { ...item, content: [], arguments: '' };
        const streamed = pieces.slice(0, pieces.length - lost);
        return [
          ...(isAnnounced || kind === 'function_call' ? [added(index, begun)] : []),
          ...streamed.map((delta) =>
            event(`${names[kind]}.delta`, { ...at(index, item.id), content_index: 0, delta }),
          ),
          done(index, item),
        ];
      });
      const seen = doneItems(await play([...events, completed({ output: wholes })]));
      const texts = seen.map((item) =>
        item.type === 'function_call' ? item.arguments : 'content' in item ? item.content : '',
      );
      expect(texts).toEqual(outputs.map(({ pieces }) => pieces.join('')));
    }),
  );
});
