import type { EventDraft, OutputItem } from '@liminal/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TurnWriter, type TurnEnd } from '../../../base/turn-writer.ts';
import { AnswerWriter } from '../../loop/answer-writer.ts';
import { brokenRules, foldTurn, payloadsOf } from '../../../testing/folding.ts';
import { modelErrorOf } from './errors.ts';
import { AnswerTranslator, type MessagesEvent } from './translate.ts';

type Event = MessagesEvent & Record<string, unknown>;

const now = () => '2026-01-01T00:00:00.000Z';

const usage = { input_tokens: 25, output_tokens: 1 };
const begin = (more: object = {}): Event => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'm',
    stop_reason: null,
    stop_sequence: null,
    usage,
    ...more,
  },
});
const start = (index: number, content_block: object): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, delta: object): Event => ({
  type: 'content_block_delta',
  index,
  delta,
});
const stop = (index: number): Event => ({ type: 'content_block_stop', index });
const end = (stop_reason: string, more: object = {}): Event[] => [
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null, ...more },
    usage: { output_tokens: 15 },
  },
  { type: 'message_stop' },
];

const text = (index: number, ...pieces: string[]): Event[] => [
  start(index, { type: 'text', text: '' }),
  ...pieces.map((piece) => delta(index, { type: 'text_delta', text: piece })),
  stop(index),
];
const tool = (index: number, ...pieces: string[]): Event[] => [
  start(index, { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} }),
  ...pieces.map((partial_json) => delta(index, { type: 'input_json_delta', partial_json })),
  stop(index),
];

/** The items and the answer that these events give, in a turn that already has the item ids `before`. */
function read(events: readonly Event[], before: readonly string[] = []) {
  const drafts: EventDraft[] = [];
  const writer = new TurnWriter('turn', (draft) => drafts.push(draft));
  writer.at(now());
  writer.begin({ modelId: 'm', providerId: 'anthropic', trigger: 'user' }, undefined);
  const translator = new AnswerTranslator(new AnswerWriter(writer, new Set(before), now));
  for (const event of events) translator.read(event);
  const open = writer.open;
  writer.end({ type: 'response_done', status: 'completed' });
  expect(brokenRules(payloadsOf(drafts, 'turn'))).toEqual([]);
  const items = foldTurn(drafts, 'turn').outputItems.map(withoutTimes);
  return { items, open, translator, payloads: payloadsOf(drafts, 'turn') };
}

function withoutTimes(item: OutputItem): OutputItem {
  const { startedAt, endedAt, ...rest } = item;
  expect([startedAt, endedAt]).toEqual([now(), now()]);
  return rest;
}

const said = (id: string, content: string) => ({ type: 'message', id, content, origin: 'agent' });
const call = (id: string, name: string, input: string, more: object = {}) => ({
  type: 'function_call',
  id,
  callId: id,
  name,
  arguments: input,
  origin: 'agent',
  ...more,
});

// The example of a stream from the API's reference.
test('a text becomes a message, with its tokens and the API’s finish reason', () => {
  const { items, open, translator } = read([
    begin(),
    start(0, { type: 'text', text: '' }),
    { type: 'ping' },
    delta(0, { type: 'text_delta', text: 'Hello' }),
    delta(0, { type: 'text_delta', text: '!' }),
    stop(0),
    ...end('end_turn'),
  ]);
  expect(items).toEqual([said('msg_1:0', 'Hello!')]);
  expect(open).toEqual([]);
  expect(translator.answer()).toEqual({
    calls: [],
    finishReason: 'end_turn',
    usage: { inputTokens: 25, outputTokens: 15 },
  });
});

test('a tool call streams its arguments, and the model then waits for the result', () => {
  const pieces = ['', '{"location":', ' "San Fra', 'ncisco"}'];
  const { items, translator, payloads } = read([
    begin(),
    ...text(0, 'Okay:'),
    ...tool(1, ...pieces),
    ...end('tool_use'),
  ]);
  const input = '{"location": "San Francisco"}';
  expect(items).toEqual([said('msg_1:0', 'Okay:'), call('toolu_1', 'get_weather', input)]);
  const [started] = payloads.filter(
    (payload) => payload.type === 'item_start' && payload.itemType === 'function_call',
  );
  expect(started).toMatchObject({ itemId: 'toolu_1', callId: 'toolu_1', name: 'get_weather' });
  expect(payloads.filter(({ type }) => type === 'item_delta')).toHaveLength(4);
  expect(translator.answer()).toMatchObject({
    calls: [{ callId: 'toolu_1', name: 'get_weather', arguments: input, itemId: 'toolu_1' }],
    finishReason: 'tool_use',
  });
});

test.each([
  [{}, '{}'],
  [{ a: 1 }, '{"a":1}'],
  ['{"a":2}', '{"a":2}'],
  [undefined, '{}'],
])('a call that streams no input has the input of its start event (%j)', (input, written) => {
  const block = { type: 'tool_use', id: 't', name: 'n', ...(input !== undefined && { input }) };
  const { items, translator } = read([begin(), start(0, block), stop(0), ...end('tool_use')]);
  expect(items).toEqual([call('t', 'n', written)]);
  expect(translator.answer().calls).toMatchObject([{ arguments: written }]);
});

test('a call that is cut off by the token limit keeps the arguments so far', () => {
  const { items, translator } = read([begin(), ...tool(0, '{"loc'), ...end('max_tokens')]);
  expect(items).toEqual([call('toolu_1', 'get_weather', '{"loc')]);
  expect(translator.answer()).toMatchObject({
    finishReason: 'max_tokens',
    calls: [{ arguments: '{"loc' }],
  });
});

test('thinking keeps its signature for the next request, even if the signature arrives in pieces', () => {
  const { items } = read([
    begin(),
    start(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Let me ' }),
    delta(0, { type: 'thinking_delta', thinking: 'see.' }),
    delta(0, { type: 'signature_delta', signature: 'EqQB' }),
    delta(0, { type: 'signature_delta', signature: 'CgIY' }),
    stop(0),
    start(1, { type: 'redacted_thinking', data: 'EmwKAhgB' }),
    stop(1),
    ...end('end_turn'),
  ]);
  expect(items).toEqual([
    {
      type: 'reasoning',
      id: 'msg_1:0',
      content: 'Let me see.',
      origin: 'agent',
      raw: { anthropic: { type: 'thinking', signature: 'EqQBCgIY' } },
    },
    {
      type: 'reasoning',
      id: 'msg_1:1',
      content: '',
      origin: 'agent',
      raw: { anthropic: { type: 'redacted_thinking', data: 'EmwKAhgB' } },
    },
  ]);
});

test('interleaved blocks stay separate', () => {
  const { items } = read([
    begin(),
    start(0, { type: 'text', text: '' }),
    start(1, { type: 'tool_use', id: 'toolu_1', name: 'a', input: {} }),
    delta(0, { type: 'text_delta', text: 'one ' }),
    delta(1, { type: 'input_json_delta', partial_json: '{"x":' }),
    start(2, { type: 'tool_use', id: 'toolu_2', name: 'b', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{}' }),
    delta(0, { type: 'text_delta', text: 'two' }),
    delta(1, { type: 'input_json_delta', partial_json: '1}' }),
    stop(2),
    stop(0),
    stop(1),
    ...end('tool_use'),
  ]);
  expect(items).toEqual([
    call('toolu_1', 'a', '{"x":1}'),
    said('msg_1:0', 'one two'),
    call('toolu_2', 'b', '{}'),
  ]);
});

test('blocks without a start or an end event are completed at the message’s end', () => {
  const { items, open, translator } = read([
    begin(),
    delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    delta(1, { type: 'text_delta', text: 'Hi.' }),
    start(2, { type: 'tool_use', id: 't', name: 'n' }),
    ...end('tool_use'),
  ]);
  expect(open).toEqual([]);
  expect(items).toMatchObject([
    { type: 'reasoning', content: 'Hm.' },
    { type: 'message', content: 'Hi.' },
    { type: 'function_call', arguments: '{}' },
  ]);
  expect(translator.answer().calls).toHaveLength(1);
});

test('a text block that stays empty does not become a message', () => {
  expect(read([begin(), ...text(0, ''), ...text(1, 'Hi.'), ...end('end_turn')]).items).toEqual([
    said('msg_1:1', 'Hi.'),
  ]);
});

test('citations stay with their text', () => {
  const citation = { type: 'web_search_result_location', url: 'https://example.com' };
  const { items } = read([
    begin(),
    start(0, { type: 'text', text: '', citations: null }),
    delta(0, { type: 'citations_delta', citation }),
    delta(0, { type: 'text_delta', text: 'So they say.' }),
    stop(0),
    ...end('end_turn'),
  ]);
  const raw = { anthropic: { type: 'text', citations: [citation] } };
  expect(items).toEqual([{ ...said('msg_1:0', 'So they say.'), raw }]);
});

test('calls of the maker’s own tools are shown with their results, and the model does not wait for results', () => {
  const result = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      {
        type: 'web_search_result',
        title: 'A page',
        url: 'https://a.example',
        encrypted_content: 'x',
      },
    ],
  };
  const failed = {
    type: 'web_fetch_tool_result',
    tool_use_id: 'srvtoolu_2',
    content: { type: 'web_fetch_tool_result_error', error_code: 'unavailable' },
  };
  const { items, translator } = read([
    begin(),
    start(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
    stop(0),
    start(1, result),
    stop(1),
    start(2, failed),
    stop(2),
    ...end('pause_turn'),
  ]);
  expect(items).toMatchObject([
    call('srvtoolu_1', 'web_search', '{"query":"x"}', {
      title: 'Search the web for “x”',
      kind: 'fetch',
      raw: { anthropic: { type: 'server_tool_use' } },
    }),
    {
      type: 'function_call_output',
      callId: 'srvtoolu_1',
      output: 'A page\nhttps://a.example',
      success: true,
      raw: { anthropic: result },
    },
    {
      callId: 'srvtoolu_2',
      output: 'The server’s tool failed: unavailable.',
      success: false,
      raw: { anthropic: failed },
    },
  ]);
  expect(translator.answer()).toMatchObject({ calls: [], finishReason: 'pause_turn' });
});

test('an answer is reported as paused if it ends with pause_turn', () => {
  expect(read([begin(), ...end('pause_turn')]).translator.answer().isPaused).toBe(true);
  expect(read([begin(), ...end('end_turn')]).translator.answer().isPaused).toBeUndefined();
});

test('unknown blocks, deltas, fields and events of later versions of the API are kept', () => {
  const block = { type: 'hologram', data: [1] };
  const extras = { caller: { type: 'direct' }, toolset_name: null };
  const odd = { type: 'odd_delta', value: 1 };
  const { items } = read([
    begin(),
    start(0, block),
    delta(0, odd),
    delta(0, { type: 'text_delta', text: 'Seen.' }),
    stop(0),
    start(1, { type: 'tool_use', id: 't', name: 'n', input: {}, ...extras }),
    { type: 'weather_report', cloudy: true },
    stop(1),
    ...end('tool_use'),
  ]);
  const event = { anthropicEvent: { type: 'weather_report', cloudy: true } };
  expect(items).toEqual([
    {
      type: 'reasoning',
      id: 'msg_1:0',
      content: 'Seen.',
      origin: 'agent',
      raw: { anthropic: block, deltas: [odd] },
    },
    call('t', 'n', '{}', { raw: [{ anthropic: { type: 'tool_use', ...extras } }, event] }),
  ]);
});

test('a refusal keeps the text so far, and shows the reason', () => {
  const details = { type: 'refusal', category: 'cyber', explanation: 'That could harm others.' };
  const { items, translator } = read([
    begin(),
    ...text(0, 'First, '),
    ...end('refusal', { stop_details: details }),
  ]);
  expect(items).toEqual([
    said('msg_1:0', 'First, '),
    {
      type: 'message',
      id: 'msg_1:refusal',
      origin: 'system',
      content: 'The model refused: That could harm others.',
      raw: { anthropic: details },
    },
  ]);
  expect(translator.answer().finishReason).toBe('refusal');
});

test.each(['stop_sequence', 'max_tokens', 'refusal'])(
  'an answer that ends with %s has this finish reason',
  (reason) => {
    const { translator } = read([begin(), ...text(0, 'Hi.'), ...end(reason)]);
    expect(translator.answer().finishReason).toBe(reason);
  },
);

test('an answer without a stop reason ends the turn, or waits for the results of its calls', () => {
  const plain = [{ type: 'message_stop' }];
  expect(read([begin(), ...plain]).translator.answer().finishReason).toBe('end_turn');
  const calling = read([begin(), ...tool(0), ...plain]).translator.answer();
  expect(calling.finishReason).toBe('tool_use');
});

test('a later token count replaces the earlier one, unless the later count is null', () => {
  const { translator } = read([
    begin({ usage: { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: 100 } }),
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: {
        input_tokens: null,
        output_tokens: 7,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: null,
      },
    },
    { type: 'message_stop' },
  ]);
  expect(translator.answer().usage).toEqual({
    inputTokens: 123,
    outputTokens: 7,
    cacheReadInputTokens: 100,
    cacheCreationInputTokens: 20,
  });
  expect(read([{ type: 'message_stop' }]).translator.answer().usage).toBeUndefined();
});

test('if the turn already has an id, the new item gets another id, and a call’s id still equals its item’s id', () => {
  const events = [begin(), ...text(0, 'Hi.'), ...tool(1), ...end('tool_use')];
  const { items, translator } = read(events, ['msg_1:0', 'toolu_1']);
  expect(items).toMatchObject([{ id: 'msg_1:0:2' }, { id: 'toolu_1:2', callId: 'toolu_1:2' }]);
  expect(translator.answer().calls).toMatchObject([{ itemId: 'toolu_1:2', callId: 'toolu_1:2' }]);
});

test.each([
  ['overloaded_error', 'MODEL_UNAVAILABLE', true],
  ['api_error', 'MODEL_UNAVAILABLE', true],
  ['rate_limit_error', 'RATE_LIMIT', true],
  ['invalid_request_error', 'MODEL_ERROR', false],
  ['error_of_tomorrow', 'MODEL_UNAVAILABLE', true],
])('the error %s within a stream is thrown as %s', (type, code, isPassing) => {
  const failing = () =>
    read([begin(), ...text(0, 'Half'), { type: 'error', error: { type, message: 'Overloaded' } }]);
  expect(failing).toThrow(
    expect.objectContaining({ code, isPassing, message: expect.stringMatching(/: Overloaded$/) }),
  );
});

test('a stream that ends before the end of its message counts as broken off', () => {
  const { translator } = read([begin(), ...text(0, 'Half')]);
  expect(() => translator.answer()).toThrow(
    expect.objectContaining({ code: 'CONNECTION_FAILED', isPassing: true }),
  );
});

test('a full context leads to an error which says that the conversation is too long', () => {
  const { translator } = read([begin(), ...end('model_context_window_exceeded')]);
  expect(() => translator.answer()).toThrow(
    expect.objectContaining({ code: 'CONTEXT_LENGTH', isPassing: false }),
  );
});

// The server may split its output at any place, and send several blocks at the same time.
test('blocks may be split and interleaved in any way: the items are the same, and nothing is lost or repeated', () => {
  const block = fc.oneof(
    fc.record({ type: fc.constant('text' as const), whole: fc.string({ minLength: 1 }) }),
    fc.record({ type: fc.constant('thinking' as const), whole: fc.string() }),
    fc.record({
      type: fc.constant('tool_use' as const),
      whole: fc
        .dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 })
        .map((it) => JSON.stringify(it)),
    }),
  );
  const cuts = fc.array(fc.nat(20), { maxLength: 6 });
  const plan = fc.record({
    blocks: fc.array(fc.record({ block, cuts }), { minLength: 1, maxLength: 4 }),
    order: fc.infiniteStream(fc.nat(3)),
  });
  const deltaFields = { text: 'text', thinking: 'thinking', tool_use: 'partial_json' };
  const deltaTypes = {
    text: 'text_delta',
    thinking: 'thinking_delta',
    tool_use: 'input_json_delta',
  };

  fc.assert(
    fc.property(plan, ({ blocks, order }) => {
      const queues = blocks.map(({ block: { type, whole }, cuts: places }, index) => {
        const first =
          type === 'tool_use'
            ? { type, id: `toolu_${index}`, name: 'n', input: {} }
            : { type, [type]: '' };
        const pieces = chunks(whole, places).map((piece) =>
          delta(index, { type: deltaTypes[type], [deltaFields[type]]: piece }),
        );
        return [start(index, first), ...pieces, stop(index)];
      });
      const events: Event[] = [begin()];
      for (const pick of order) {
        const left = queues.filter((queue) => queue.length > 0);
        if (left.length === 0) break;
        events.push(...left[pick % left.length]!.splice(0, 1));
      }
      const { items, translator } = read([...events, ...end('tool_use')]);
      const contents = new Map(items.map((item) => [item.id, contentOf(item)]));
      expect(contents.size).toBe(blocks.length);
      for (const [
        index,
        {
          block: { type, whole },
        },
      ] of blocks.entries())
        expect(contents.get(type === 'tool_use' ? `toolu_${index}` : `msg_1:${index}`)).toBe(whole);
      const tools = blocks.filter(({ block: { type } }) => type === 'tool_use');
      expect(
        translator
          .answer()
          .calls.map((made) => made.arguments)
          .sort(),
      ).toEqual(tools.map(({ block: { whole } }) => whole).sort());
    }),
  );
});

function chunks(whole: string, sizes: readonly number[]): string[] {
  let at = 0;
  const pieces = sizes.map((size) => whole.slice(at, (at += size)));
  return [...pieces, whole.slice(at)];
}

const contentOf = (item: OutputItem): string =>
  item.type === 'function_call' ? item.arguments : 'content' in item ? item.content : '';

async function* stream(events: readonly Event[]): AsyncGenerator<Event> {
  yield* events;
  await Promise.resolve();
}

/** The events of a whole turn, made from one answer's events. The tools that the model calls are not run. */
async function* translateMessages(
  events: AsyncIterable<MessagesEvent>,
  about: { turnId: string; modelId: string; now: () => string },
): AsyncGenerator<EventDraft, void> {
  const drafts: EventDraft[] = [];
  const writer = new TurnWriter(about.turnId, (draft) => drafts.push(draft));
  writer.at(about.now());
  const { modelId } = about;
  writer.begin({ modelId, providerId: 'anthropic', trigger: 'user' }, undefined);
  const translator = new AnswerTranslator(new AnswerWriter(writer, new Set(), about.now));
  let end: TurnEnd;
  try {
    for await (const event of events) {
      translator.read(event);
      yield* drafts.splice(0);
    }
    const { finishReason } = translator.answer();
    end = { type: 'response_done', status: 'completed', finishReason };
  } catch (error) {
    end = { type: 'response_error', error: modelErrorOf(error).asObject };
  }
  const { usage } = translator;
  writer.at(about.now());
  const unplaced = writer.takeUnplaced();
  if (unplaced.length > 0)
    writer.notice('The model server said more than is known here.', { raw: unplaced });
  writer.end(usage === undefined ? end : { ...end, usage });
  yield* drafts;
}

async function turnOf(events: readonly Event[]) {
  const drafts: EventDraft[] = [];
  const about = { turnId: 'turn', modelId: 'claude', now };
  for await (const draft of translateMessages(stream(events), about)) drafts.push(draft);
  expect(brokenRules(payloadsOf(drafts, 'turn'))).toEqual([]);
  return { drafts, payloads: payloadsOf(drafts, 'turn'), response: foldTurn(drafts, 'turn') };
}

test('a whole turn of the Messages API is response_start, items and response_done', async () => {
  const { drafts, payloads } = await turnOf([begin(), ...text(0, 'Hi', '.'), ...end('end_turn')]);
  expect(payloads.map(({ type }) => type)).toEqual([
    'response_start',
    'item_start',
    'item_delta',
    'item_delta',
    'item_done',
    'response_done',
  ]);
  expect(payloads[0]).toMatchObject({ modelId: 'claude', providerId: 'anthropic' });
  expect(payloads.at(-1)).toEqual({
    type: 'response_done',
    status: 'completed',
    finishReason: 'end_turn',
    usage: { inputTokens: 25, outputTokens: 15 },
  });
  expect(new Set(drafts.map(({ turnId, timestamp }) => `${turnId} ${timestamp}`))).toEqual(
    new Set([`turn ${now()}`]),
  );
});

test('a turn whose stream reports an error, or breaks off, ends as an error', async () => {
  const half = [begin(), start(0, { type: 'text', text: 'Half' })];
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const failed = await turnOf([...half, overloaded]);
  expect(failed.payloads.at(-1)).toMatchObject({
    type: 'response_error',
    error: { code: 'MODEL_UNAVAILABLE', details: { type: 'overloaded_error' } },
    usage: { inputTokens: 25, outputTokens: 1 },
  });
  expect(failed.response.outputItems).toMatchObject([
    { content: 'Half', error: { code: 'MODEL_UNAVAILABLE' } },
  ]);
  const cut = await turnOf(half);
  expect(cut.payloads.at(-1)).toMatchObject({ error: { code: 'CONNECTION_FAILED' } });
});

test('raw data that belongs to no item becomes a notice at the answer’s end', async () => {
  const event = { type: 'weather_report' };
  const { response } = await turnOf([begin(), ...text(0, 'Hi.'), event, ...end('end_turn')]);
  expect(response.outputItems.at(-1)).toMatchObject({
    origin: 'system',
    raw: [{ anthropicEvent: event }],
  });
});
