import type { EventPayload, OutputItem, Response } from '@liminal/protocol';
import { expect, test } from 'vitest';
import {
  callIdsOf,
  compactWish,
  conversationOf,
  costIn,
  itemsOf,
  newerHalf,
  summaryMark,
  TurnItems,
} from './conversation.ts';

const times = { startedAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:00:00.000Z' };
const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;

const message = (content: string, more: Partial<OutputItem> = {}): OutputItem =>
  ({ type: 'message', id: content, content, origin: 'user', ...times, ...more }) as OutputItem;
const call = (callId: string, more: Partial<OutputItem> = {}): OutputItem =>
  ({
    type: 'function_call',
    id: callId,
    callId,
    name: 'f',
    arguments: '{}',
    origin: 'agent',
    ...times,
    ...more,
  }) as OutputItem;
const output = (callId: string, more: Partial<OutputItem> = {}): OutputItem =>
  ({
    type: 'function_call_output',
    id: `${callId}:o`,
    callId,
    output: 'done',
    success: true,
    origin: 'tool_harness',
    ...times,
    ...more,
  }) as OutputItem;

const shape = (items: readonly OutputItem[]): string[] =>
  conversationOf(items).map((item) => {
    if (item.type === 'function_call_output') return `${item.callId} → ${item.success}`;
    return item.type === 'message' ? item.content : item.id;
  });

test('calls of one answer are adjacent, and their outputs come before all other items', () => {
  expect(
    shape([
      message('Go'),
      call('a'),
      call('b'),
      output('b'),
      output('a'),
      message('So', { origin: 'agent' }),
    ]),
  ).toEqual(['Go', 'a', 'b', 'b → true', 'a → true', 'So']);
});

test('a call without an output gets an output that reports the interruption; an output without a call is left out', () => {
  expect(shape([call('a'), message('Next'), output('b'), call('c')])).toEqual([
    'a',
    'a → false',
    'Next',
    'c',
    'c → false',
  ]);
});

test('a call that a later turn has resumed is included only in that turn', () => {
  const items = [call('a'), call('b'), output('a'), call('b', { id: 'b:2' }), output('b')];
  expect(shape(items)).toEqual(['a', 'a → true', 'b:2', 'b → true']);
});

test('a call id that is used again in a later answer belongs to a different call', () => {
  const items = [call('a'), output('a'), call('a', { id: 'a:2' }), output('a', { id: 'o2' })];
  expect(shape(items)).toEqual(['a', 'a → true', 'a:2', 'a → true']);
});

test('a message sent during a turn is placed before the first item that the model wrote after reading the message', () => {
  const steered = message('Stop', { delivery: 'taken', startedAt: at(2), endedAt: at(5) });
  const items = [
    message('Thinking', { origin: 'agent', startedAt: at(1), endedAt: at(1) }),
    steered,
    call('a', { startedAt: at(3), endedAt: at(3) }),
    output('a', { startedAt: at(4), endedAt: at(4) }),
    message('I see', { origin: 'agent', startedAt: at(6), endedAt: at(6) }),
  ];
  expect(shape(items)).toEqual(['Thinking', 'a', 'a → true', 'Stop', 'I see']);
});

test('a message that the model had not read at the end of the turn is left out', () => {
  expect(shape([message('Go'), message('Stop', { delivery: 'not_taken' })])).toEqual(['Go']);
});

const steeredNow = message('Stop', { delivery: 'taken' });

test('a message is never placed between a call and its output, even if all have the same time', () => {
  expect(
    shape([call('a'), steeredNow, output('a'), message('I see', { origin: 'agent' })]),
  ).toEqual(['a', 'a → true', 'Stop', 'I see']);
});

test.each<[string, OutputItem[], string[]]>([
  [
    'before the next calls',
    [call('a'), steeredNow, output('a'), call('b'), output('b')],
    ['a', 'a → true', 'Stop', 'b', 'b → true'],
  ],
  [
    'after the outputs of all calls of the answer',
    [call('a'), call('b'), steeredNow, output('a'), output('b')],
    ['a', 'b', 'a → true', 'b → true', 'Stop'],
  ],
  [
    'after the report that a call was interrupted',
    [call('a'), steeredNow, message('I see', { origin: 'agent' })],
    ['a', 'a → false', 'Stop', 'I see'],
  ],
  [
    'before calls that the model made later',
    [message('Go'), steeredNow, call('a'), output('a')],
    ['Go', 'Stop', 'a', 'a → true'],
  ],
])('a message sent during a turn is placed %s', (_, items, expected) => {
  expect(shape(items)).toEqual(expected);
});

test('items for people, and thoughts and calls that broke off, are left out; messages that broke off are kept', () => {
  const error = { code: 'X', message: 'x' };
  const items = [
    message('Notice', { origin: 'system' }),
    { type: 'plan', id: 'p', entries: [] } as OutputItem,
    { type: 'reasoning', id: 'r', content: 'Hm', origin: 'agent', error } as OutputItem,
    call('a', { error }),
    call('inner', { parentCallId: 'script' }),
    message('Half a', { origin: 'agent', error }),
    message(' '),
  ];
  expect(shape(items)).toEqual(['Half a']);
});

test('the newer half begins with a message of the user; a single message cannot be halved', () => {
  const items = ['A', 'B', 'C', 'D'].flatMap((text) => [
    message(text),
    message(`${text}!`, { origin: 'agent' }),
  ]);
  expect(newerHalf(items)?.map((item) => item.id)).toEqual(['C', 'C!', 'D', 'D!']);
  expect(newerHalf([message('One')])).toBeUndefined();
});

test.each([
  ['/compact', ''],
  [' /compact\n', ''],
  ['/compact the plan', 'the plan'],
  ['/compact\n\nthe plan,\nand why', 'the plan,\nand why'],
  ['/compactly', undefined],
  ['/compact!', undefined],
  ['Send /compact', undefined],
  ['', undefined],
])('the message %j asks for a summary with the focus %j', (text, wish) => {
  expect(compactWish(text)).toBe(wish);
});

const run = (more: object): Response =>
  ({ id: 'r', turnId: 'r', outputItems: [], finishReason: null, ...more }) as unknown as Response;

test('a session’s cost is the newest that a run reports', () => {
  const cost = (costUsd?: number) =>
    run({ usage: { inputTokens: 1, outputTokens: 1, ...(costUsd !== undefined && { costUsd }) } });
  expect(costIn([cost(1), cost(2), cost(), run({})])).toBe(2);
  expect(costIn([cost(), run({})])).toBeUndefined();
  expect(costIn([])).toBeUndefined();
});

test('the items of all runs are in order, and the server’s own turns are left out', () => {
  const [a, b, c] = [message('A'), message('B'), message('C')];
  const ofServer = run({ outputItems: [b], finishReason: 'rewind' });
  expect(itemsOf([run({ outputItems: [a] }), ofServer, run({ outputItems: [c] })])).toEqual([a, c]);
});

test('the ids of a conversation’s calls are in order', () => {
  expect(callIdsOf([message('A'), call('a'), output('a'), call('b')])).toEqual(['a', 'b']);
});

const mark = (raw: unknown, origin: 'system' | 'user' = 'system') =>
  message('Summarized.', { id: 'mark', origin, raw });

test.each([[summaryMark], [[{ other: 1 }, summaryMark]]])(
  'a summary, marked with %j, replaces everything before it',
  (raw) => {
    const items = [
      message('First'),
      message('Old answer', { origin: 'agent' }),
      message('/compact'),
      message('It was', { origin: 'agent' }),
      call('a'),
      message('The model was asked again.', { origin: 'system' }),
      message('about paper.', { origin: 'agent' }),
      mark(raw),
      message('And now?'),
    ];
    expect(conversationOf(items)).toEqual([
      {
        type: 'message',
        id: 'mark',
        origin: 'user',
        content: 'What we have said and done so far, in short:\n\nIt was\n\nabout paper.',
      },
      message('And now?'),
    ]);
  },
);

test.each([[mark({ liminal: {} })], [mark(undefined)], [mark(summaryMark, 'user')]])(
  'another message does not replace anything: %j',
  (other) => {
    expect(conversationOf([message('First'), other])[0]).toEqual(message('First'));
  },
);

test('only the newest summary counts', () => {
  const items = [
    message('/compact'),
    message('One.', { origin: 'agent' }),
    mark(summaryMark),
    message('/compact'),
    message('Two.', { origin: 'agent' }),
    mark(summaryMark),
  ];
  expect(shape(items)).toEqual(['What we have said and done so far, in short:\n\nTwo.']);
});

test('a request for a summary that failed is left out; the same text is kept if a steered message or the model contains it', () => {
  expect(
    shape([
      message('/compact'),
      message('/compact ', { delivery: 'taken' }),
      message('/compact  ', { origin: 'agent' }),
      message('Go'),
    ]),
  ).toEqual(['/compact ', '/compact  ', 'Go']);
});

test('a message that has only files is kept', () => {
  const blocks = [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] as const;
  expect(shape([message('', { blocks: [...blocks] }), message('', { blocks: [] })])).toEqual(['']);
});

test('thoughts are kept, and a long output is shortened', () => {
  const thought = { type: 'reasoning', id: 'r', content: 'Hm', origin: 'agent' } as OutputItem;
  const long = output('a', { output: 'x'.repeat(200_000) });
  const [first, , last] = conversationOf([thought, call('a'), long]);
  expect(first).toBe(thought);
  expect(last?.type === 'function_call_output' && last.output.length).toBeLessThan(110_000);
});

test('if an output broke off, the model gets the output with a note about that', () => {
  const error = { code: 'OWNER_LOST', message: 'x' };
  const items = conversationOf([call('a'), output('a', { output: 'So', error })]);
  expect(items[1]).toMatchObject({ output: 'So\n(The turn ended before this was whole.)' });
  expect(conversationOf([call('a'), output('a')])[1]).toMatchObject({ output: 'done' });
});

test('an output that reports an interruption has an id and a call of its own', () => {
  expect(conversationOf([call('a', { id: 'i' })])[1]).toEqual({
    type: 'function_call_output',
    id: 'i:unanswered',
    callId: 'a',
    output:
      'The turn ended before this had a result: it may be done, or not, or in part. Look before you do it again.',
    success: false,
    origin: 'system',
  });
});

test('only the first output of a call counts', () => {
  const items = conversationOf([call('a'), output('a'), output('a', { output: 'again' })]);
  expect(items).toEqual([call('a'), output('a')]);
});

test('messages sent during a turn keep their order, and the messages that the model has not read yet come last', () => {
  const steered = (text: string, read: number) =>
    message(text, { delivery: 'taken', startedAt: at(1), endedAt: at(read) });
  const said = (text: string, second: number) =>
    message(text, { origin: 'agent', startedAt: at(second), endedAt: at(second) });
  expect(
    shape([
      steered('late', 9),
      steered('one', 2),
      steered('two', 2),
      said('A', 1),
      said('B', 2),
      said('C', 3),
      steered('three', 9),
    ]),
  ).toEqual(['A', 'one', 'two', 'B', 'C', 'late', 'three']);
});

test('the newer half begins with the newest message of the user if only that message can be kept', () => {
  const long = 'x'.repeat(1_000);
  const items = [message('A'), message(long, { origin: 'agent' }), message('B'), message('C')];
  expect(newerHalf(items)?.map((item) => item.id)).toEqual(['B', 'C']);
  const late = [message('A'), message('B'), message(long, { origin: 'agent' })];
  expect(newerHalf(late)?.map((item) => item.id)).toEqual(['B', long]);
  expect(newerHalf([message('A'), message(long, { origin: 'agent' })])).toBeUndefined();
  expect(newerHalf([message(long, { origin: 'agent' })])).toBeUndefined();
  expect(newerHalf([])).toBeUndefined();
});

/** The ended items of a running turn after these events, one a second. */
function ended(...payloads: object[]): { items: TurnItems; ids: () => unknown[] } {
  const items = new TurnItems();
  for (const [second, payload] of payloads.entries()) {
    items.onDraft({ turnId: 't', timestamp: at(second), payload: payload as EventPayload });
  }
  const ids = () => items.ended.map(({ id, startedAt, endedAt }) => [id, startedAt, endedAt]);
  return { items, ids };
}

const starts = (itemId: string) => ({ type: 'item_start', itemId });
const ends = (id: string) => ({ type: 'item_done', itemId: id, finalItem: message(id) });

test('a running turn’s items are in starting order, with the times of their start and end', () => {
  const { ids } = ended(starts('a'), starts('b'), ends('b'), ends('a'), starts('c'));
  expect(ids()).toEqual([
    ['a', at(0), at(3)],
    ['b', at(1), at(2)],
  ]);
  expect(ended(ends('a')).ids()).toEqual([['a', at(0), at(0)]]);
});

test('withdrawn items of a running turn are removed, and an error is kept with its item', () => {
  const error = { code: 'X', message: 'x' };
  const { items } = ended(
    starts('a'),
    ends('a'),
    starts('b'),
    ends('b'),
    { type: 'item_cancelled', itemId: 'a', reason: 'retried' },
    { type: 'item_error', itemId: 'b', error },
    { type: 'item_error', itemId: 'unknown', error },
  );
  expect(items.ended).toMatchObject([{ id: 'b', error, startedAt: at(2), endedAt: at(5) }]);
  items.note(message('c'));
  expect(items.ended.map(({ id }) => id)).toEqual(['b', 'c']);
});
