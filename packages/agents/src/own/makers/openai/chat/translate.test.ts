import type { EventPayload, OutputItem } from '@liminal/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { doneItems, payloadsOf, streamOf } from '../../../../testing/collected-turn.ts';
import { translateTurn } from '../../../../testing/translated-turn.ts';
import { ChatTranslator } from './translate.ts';

/** The chunk from the official API reference, with another delta. */
const chunk = (delta: object, finishReason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_694_268_190,
  model: 'gpt-4o-mini',
  system_fingerprint: 'fp_44709d6fcb',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
});
const opening = chunk({ role: 'assistant', content: '' });
const end = (reason: string) => chunk({}, reason);
/** A chunk with pieces of tool calls as its delta. */
const pieces = (...calls: object[]) => chunk({ tool_calls: calls });
const usage = {
  ...opening,
  choices: [],
  usage: {
    prompt_tokens: 19,
    completion_tokens: 10,
    total_tokens: 29,
    prompt_tokens_details: { cached_tokens: 5, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 3 },
  },
};

const now = () => '2026-01-01T00:00:00.000Z';

const play = (chunks: Iterable<unknown>): Promise<EventPayload[]> =>
  payloadsOf(
    translateTurn(
      streamOf(chunks),
      { turnId: 't', modelId: 'gpt-4o-mini', now },
      (writer) => new ChatTranslator(writer),
    ),
  );

/** The items that an answer with these chunks has. */
const items = async (...chunks: unknown[]): Promise<OutputItem[]> =>
  doneItems(await play([opening, ...chunks]));

const calls = async (...chunks: unknown[]) =>
  (await items(...chunks)).flatMap((item) =>
    item.type === 'function_call' ? [[item.callId, item.name, item.arguments]] : [],
  );

test('content extends a message', async () => {
  expect(
    await play([opening, chunk({ content: 'Hel' }), chunk({ content: 'lo' }), end('stop')]),
  ).toEqual([
    { type: 'response_start', modelId: 'gpt-4o-mini', providerId: 'openai', trigger: 'user' },
    {
      type: 'item_start',
      itemId: 'chatcmpl-1:message',
      itemType: 'message',
      origin: 'agent',
    },
    { type: 'item_delta', itemId: 'chatcmpl-1:message', deltaContent: 'Hel' },
    { type: 'item_delta', itemId: 'chatcmpl-1:message', deltaContent: 'lo' },
    {
      type: 'item_done',
      itemId: 'chatcmpl-1:message',
      finalItem: { type: 'message', id: 'chatcmpl-1:message', content: 'Hello', origin: 'agent' },
    },
    { type: 'response_done', status: 'completed', finishReason: 'stop' },
  ]);
});

test.each(['reasoning_content', 'reasoning'])(
  'reasoning in %s extends a reasoning item, which ends when the answer’s text begins',
  async (field) => {
    const seen = await play([
      opening,
      chunk({ [field]: 'Let me ' }),
      chunk({ [field]: 'think.' }),
      chunk({ content: 'Yes' }),
      end('stop'),
    ]);
    expect(seen.slice(1).map(({ type }) => type)).toEqual([
      'item_start',
      'item_delta',
      'item_delta',
      'item_done',
      'item_start',
      'item_delta',
      'item_done',
      'response_done',
    ]);
    expect(doneItems(seen)).toMatchObject([
      { type: 'reasoning', content: 'Let me think.' },
      { type: 'message', content: 'Yes' },
    ]);
  },
);

test('reasoning that a server sends in two fields is written once', async () => {
  expect(await items(chunk({ reasoning_content: 'a', reasoning: 'a' }), end('stop'))).toMatchObject(
    [{ content: 'a' }],
  );
});

test('a piece with a new id begins a call with this id, a name and the first arguments', async () => {
  const seen = await play([
    opening,
    pieces({ index: 0, id: 'call_a', type: 'function', function: { name: 'ls', arguments: '' } }),
    pieces({
      index: 1,
      id: 'call_b',
      type: 'function',
      function: { name: 'cat', arguments: '{"' },
    }),
    end('tool_calls'),
  ]);
  expect(seen.filter(({ type }) => type === 'item_start')).toEqual([
    {
      type: 'item_start',
      itemId: 'call_a',
      itemType: 'function_call',
      name: 'ls',
      callId: 'call_a',
    },
    {
      type: 'item_start',
      itemId: 'call_b',
      itemType: 'function_call',
      name: 'cat',
      callId: 'call_b',
      arguments: '{"',
    },
  ]);
});

test('arguments are appended to the call with the same index', async () => {
  const seen = await play([
    opening,
    pieces({ index: 0, id: 'a', function: { name: 'ls', arguments: '' } }),
    pieces({ index: 1, id: 'b', function: { name: 'cat', arguments: '' } }),
    pieces({ index: 0, function: { arguments: '{"p":' } }),
    pieces({ index: 1, function: { arguments: '{}' } }),
    pieces({ index: 0, function: { arguments: '1}' } }),
    end('tool_calls'),
  ]);
  expect(seen.filter(({ type }) => type === 'item_delta')).toEqual([
    { type: 'item_delta', itemId: 'a', deltaContent: '{"p":' },
    { type: 'item_delta', itemId: 'b', deltaContent: '{}' },
    { type: 'item_delta', itemId: 'a', deltaContent: '1}' },
  ]);
});

test('a text that came before a call ends before the call begins', async () => {
  const piece = { index: 0, id: 'a', function: { name: 'ls', arguments: '{}' } };
  const seen = await play([opening, chunk({ content: 'Looking.' }), pieces(piece), end('stop')]);
  expect(seen.map(({ type }) => type)).toEqual([
    'response_start',
    'item_start',
    'item_delta',
    'item_done',
    'item_start',
    'item_done',
    'response_done',
  ]);
});

test.each(['tool_calls', 'stop', 'function_call'])(
  'each call ends with the finish reason %s',
  async (reason) => {
    const seen = await play([
      opening,
      chunk({ content: 'Looking.' }),
      pieces(
        { index: 0, id: 'a', function: { name: 'ls', arguments: '{}' } },
        { index: 1, id: 'b', function: { name: 'cat', arguments: '{"n":1}' } },
      ),
      end(reason),
    ]);
    expect(seen.slice(-3)).toEqual([
      {
        type: 'item_done',
        itemId: 'a',
        finalItem: {
          type: 'function_call',
          id: 'a',
          callId: 'a',
          name: 'ls',
          arguments: '{}',
          origin: 'agent',
        },
      },
      expect.objectContaining({
        itemId: 'b',
        finalItem: expect.objectContaining({ arguments: '{"n":1}' }),
      }),
      { type: 'response_done', status: 'completed', finishReason: reason },
    ]);
  },
);

test.each(['stop', 'length', 'content_filter', 'tool_calls'])(
  'a turn ends with the finish reason %s and its token counts',
  async (reason) => {
    const counted = { inputTokens: 19, outputTokens: 10, cacheReadInputTokens: 5 };
    expect((await play([opening, chunk({ content: 'a' }), end(reason), usage])).slice(-2)).toEqual([
      { type: 'usage_update', usage: counted },
      { type: 'response_done', status: 'completed', finishReason: reason, usage: counted },
    ]);
  },
);

test('if every chunk reports token counts, only the last counts are used', async () => {
  const early = { ...chunk({ content: 'a' }), usage: { prompt_tokens: 19, completion_tokens: 1 } };
  const last = { ...end('stop'), usage: { prompt_tokens: 19, completion_tokens: 2 } };
  const seen = await play([opening, early, last]);
  expect(seen.filter(({ type }) => type === 'usage_update')).toEqual([
    { type: 'usage_update', usage: { inputTokens: 19, outputTokens: 2 } },
  ]);
});

const named = { name: 'ls', arguments: '' };
const args = (text: string) => ({ function: { arguments: text } });
const made = expect.stringMatching(/^call_[0-9a-f]{32}$/);

test.each([
  [
    'that comes late',
    [pieces({ index: 0, function: named }), pieces({ index: 0, id: 'late', ...args('{}') })],
    [[made, 'ls', '{}']],
  ],
  [
    'that never comes',
    [pieces({ index: 0, function: named }), pieces({ index: 0, ...args('{}') })],
    [[made, 'ls', '{}']],
  ],
  [
    'in each chunk, with the name',
    [
      pieces({ index: 0, id: 'a', function: named }),
      pieces({ index: 0, id: 'a', function: { name: 'ls', arguments: '{' } }),
      pieces({ index: 0, id: 'a', function: { name: 'ls', arguments: '}' } }),
    ],
    [['a', 'ls', '{}']],
  ],
  [
    'that is new in each chunk',
    [
      pieces({ index: 0, id: 'x1', function: named }),
      pieces({ index: 0, id: 'x2', ...args('{') }),
      pieces({ index: 0, id: 'x3', ...args('}') }),
    ],
    [['x1', 'ls', '{}']],
  ],
  [
    'and no index',
    [
      pieces({ id: 'a', function: named }, { id: 'b', function: { name: 'cat', arguments: '{' } }),
      pieces({ id: 'a', ...args('{}') }),
      pieces({ id: 'b', ...args('}') }),
    ],
    [
      ['a', 'ls', '{}'],
      ['b', 'cat', '{}'],
    ],
  ],
  [
    'at the index of another call',
    [
      pieces({ index: 0, id: 'a', function: { name: 'ls', arguments: '{}' } }),
      pieces({ index: 0, id: 'b', function: { name: 'ls', arguments: '{"n":1}' } }),
    ],
    [
      ['a', 'ls', '{}'],
      ['b', 'ls', '{"n":1}'],
    ],
  ],
  [
    'at the index of another call that has no arguments yet',
    [
      pieces({ index: 0, id: 'a', function: named }),
      pieces({ index: 0, id: 'b', function: named }),
    ],
    [
      ['a', 'ls', ''],
      ['b', 'ls', ''],
    ],
  ],
  [
    'that none of two calls at one index has',
    [
      pieces({ index: 0, function: named }),
      pieces({ index: 0, function: { name: 'cat', arguments: '' } }),
    ],
    [
      [made, 'ls', ''],
      [made, 'cat', ''],
    ],
  ],
  [
    'that none of two calls in one chunk has',
    [pieces({ function: named }, { function: named })],
    [
      [made, 'ls', ''],
      [made, 'ls', ''],
    ],
  ],
  [
    'that two calls have',
    [
      pieces({ index: 0, id: 'call_0', function: { name: 'ls', arguments: '{}' } }),
      pieces({ index: 1, id: 'call_0', function: { name: 'cat', arguments: '{}' } }),
    ],
    [
      ['call_0', 'ls', '{}'],
      [made, 'cat', '{}'],
    ],
  ],
])('calls are assembled from pieces with an id %s', async (_case, chunks, expected) => {
  expect(await calls(...chunks, end('tool_calls'))).toEqual(expected);
});

test('whole calls without id and index are separate calls, even of the same tool', async () => {
  const whole = (path: string) => ({ function: { name: 'ls', arguments: `{"p":"${path}"}` } });
  const seen = await calls(pieces(whole('a'), whole('b')), pieces(whole('c')), end('stop'));
  expect(seen).toEqual([
    [made, 'ls', '{"p":"a"}'],
    [made, 'ls', '{"p":"b"}'],
    [made, 'ls', '{"p":"c"}'],
  ]);
  expect(new Set(seen.map(([id]) => id)).size).toBe(3);
});

test('arguments may be an object, and a call may be a deprecated function call', async () => {
  const object = { index: 0, id: 'a', function: { name: 'ls', arguments: { p: 'x' } } };
  expect(await calls(pieces(object), end('tool_calls'))).toEqual([['a', 'ls', '{"p":"x"}']]);
  const old = [
    chunk({ function_call: named }),
    chunk({ function_call: { arguments: '{}' } }),
    end('function_call'),
  ];
  expect(await calls(...old)).toEqual([[made, 'ls', '{}']]);
});

test('additional fields of a call, and a late id, are stored', async () => {
  const signed = { extra_content: { google: { thought_signature: 'x' } } };
  const seen = await items(
    pieces({ index: 0, function: named, ...signed }),
    pieces({ index: 0, id: 'late' }),
    end('stop'),
  );
  expect(seen).toMatchObject([{ raw: { openai: { id: 'late', ...signed } } }]);
});

test('reasoning details are stored with the text that follows them', async () => {
  const piece = (text: string) =>
    chunk({ content: text, reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] });
  const whole = [{ type: 'reasoning.text', text: 'Yes.', index: 0 }];
  expect(await items(piece('Ye'), piece('s.'), end('stop'))).toMatchObject([
    { type: 'message', content: 'Yes.', raw: [{ reasoning_details: whole }] },
  ]);
});

test('empty deltas write nothing', async () => {
  const empty = [{}, { content: null }, { content: '', reasoning: '', tool_calls: [] }].map(
    (delta) => chunk(delta),
  );
  expect(await items(...empty, chunk({ content: 'a' }), ...empty, end('stop'))).toMatchObject([
    { content: 'a' },
  ]);
});

test('the text of a refusal becomes a message, and sets the finish reason', async () => {
  const seen = await play([
    opening,
    chunk({ refusal: 'I will ' }),
    chunk({ refusal: 'not.' }),
    end('stop'),
  ]);
  expect(doneItems(seen)).toMatchObject([{ type: 'message', content: 'I will not.' }]);
  expect(seen.at(-1)).toMatchObject({ type: 'response_done', finishReason: 'refusal' });
});

test('content parts become text and reasoning, and other parts are stored as raw data', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:,' } };
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'yes' },
    image,
  ];
  expect(await items(chunk({ content }), end('stop'))).toMatchObject([
    { type: 'reasoning', content: 'hm' },
    { type: 'message', content: 'yes', raw: [image] },
  ]);
});

test('data for which items have no field is stored with the next item that ends', async () => {
  const audio = { id: 'audio_1', data: 'AAAA' };
  expect(
    await items(chunk({ audio }), 'no chunk', chunk({ content: 'a' }), end('stop')),
  ).toMatchObject([{ content: 'a', raw: [{ audio }, 'no chunk'] }]);
});

test('a second answer, which was not requested, is stored as raw data', async () => {
  const choice = { index: 1, delta: { content: 'other' }, finish_reason: null };
  const second = { ...opening, choices: [choice] };
  expect(await items(second, chunk({ content: 'a' }), end('stop'))).toMatchObject([
    { content: 'a', raw: [{ index: 1, delta: { content: 'other' } }] },
  ]);
});

test('raw data that belongs to no item becomes an item', async () => {
  expect(await items({ choices: 'none' }, end('stop'))).toMatchObject([
    { type: 'message', origin: 'system', raw: [{ choices: 'none' }] },
  ]);
});

test('an answer that is not streamed can also be read', async () => {
  const message = {
    role: 'assistant',
    content: 'whole',
    tool_calls: [{ id: 'a', function: named }],
  };
  const whole = {
    id: 'x',
    object: 'chat.completion',
    choices: [{ message, finish_reason: 'stop' }],
  };
  expect(doneItems(await play([whole]))).toMatchObject([
    { id: 'x:message', content: 'whole' },
    { callId: 'a', name: 'ls' },
  ]);
});

test.each([
  [{ error: { message: 'Broken', code: 500 } }, 'MODEL_UNAVAILABLE', /Broken/],
  [{ error: 'out of memory' }, 'MODEL_ERROR', /out of memory/],
  [{ object: 'error', message: 'maximum context length is 10' }, 'CONTEXT_LENGTH', /is 10/],
])('the error %j within a stream ends the turn as an error', async (error, code, message) => {
  const seen = await play([opening, chunk({ content: 'half' }), error, chunk({ content: 'x' })]);
  expect(seen.slice(-2)).toMatchObject([
    { type: 'item_error', itemId: 'chatcmpl-1:message' },
    { type: 'response_error', error: { code, message: expect.stringMatching(message) } },
  ]);
});

test('a stream that ends without a finish reason counts as broken off', async () => {
  const seen = await play([opening, chunk({ content: 'half' })]);
  expect(seen.at(-1)).toMatchObject({
    type: 'response_error',
    error: { code: 'CONNECTION_FAILED' },
  });
});

/** A text, cut at arbitrary places. */
const cutText = fc
  .tuple(fc.string({ unit: 'binary', maxLength: 30 }), fc.array(fc.nat(30), { maxLength: 6 }))
  .map(([text, cuts]) => {
    const at = [0, ...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b)];
    return at.map((from, index) => text.slice(from, at[index + 1]));
  });

const speech = fc.oneof(
  fc.record({ field: fc.constant('content'), texts: cutText }),
  fc.record({ field: fc.constantFrom('reasoning_content', 'reasoning'), texts: cutText }),
);

test('texts may be cut at any place: no text is lost or repeated', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(speech, { maxLength: 5 }), async (speeches) => {
      const chunks = speeches.flatMap(({ field, texts }) =>
        texts.map((text) => chunk({ [field]: text })),
      );
      const seen = await items(...chunks, end('stop'));
      const of = (type: string): string =>
        seen.map((item) => (item.type === type && 'content' in item ? item.content : '')).join('');
      const given = (isContent: boolean): string =>
        speeches
          .filter(({ field }) => (field === 'content') === isContent)
          .flatMap(({ texts }) => texts)
          .join('');
      expect([of('message'), of('reasoning')]).toEqual([given(true), given(false)]);
    }),
  );
});

const naming = fc.record({
  ids: fc.constantFrom('first', 'second', 'each', 'never', 'fresh'),
  repeatsName: fc.boolean(),
});

test('calls may be cut, named and interleaved in any way: the calls are the same', async () => {
  const call = fc.record({ name: fc.constantFrom('ls', 'cat'), pieces: cutText, naming });
  const order = fc.array(fc.nat(2), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 3 }), order, async (list, turns) => {
      const queues = list.map(({ name, pieces: texts, naming: { ids, repeatsName } }, index) =>
        texts.map((text, count) => {
          const isFirst = count === 0;
          const has = {
            first: isFirst,
            second: count === 1,
            each: true,
            never: false,
            fresh: true,
          };
          const id = ids === 'fresh' ? `id${index}:${count}` : `id${index}`;
          // A piece with a new id and a name begins a new call.
          const isNamed = isFirst || (repeatsName && ids !== 'fresh');
          return {
            index,
            ...(has[ids] && { id }),
            function: { ...(isNamed && { name }), arguments: text },
          };
        }),
      );
      const first = queues.flatMap((queue) => queue.splice(0, 1));
      const mixed = turns.flatMap((at) => queues[at % queues.length]!.splice(0, 1));
      const chunks = [...first, ...mixed, ...queues.flat()].map((piece) => pieces(piece));
      expect(
        (await calls(...chunks, end('tool_calls'))).map(([, name, text]) => [name, text]),
      ).toEqual(list.map(({ name, pieces: texts }) => [name, texts.join('')]));
    }),
  );
});

test('SAFE: an answer with far too many calls ends with an error', async () => {
  const many = Array.from({ length: 60_000 }, (_, index) =>
    pieces({ index, id: `c${index}`, function: { name: 'read', arguments: '{}' } }),
  );
  const said = await play([opening, ...many, end('tool_calls')]);
  expect(said.at(-1)).toMatchObject({
    type: 'response_error',
    error: { message: 'The model asked for more than 1000 tool calls in one answer.' },
  });
  expect(said.filter(({ type }) => type === 'item_start')).toHaveLength(1_000);
});
