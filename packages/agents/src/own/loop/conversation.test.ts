import type { OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { conversationOf, newerHalf } from './conversation.ts';

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

test('a message is never placed between a call and its output, even if all have the same time', () => {
  const steered = message('Stop', { delivery: 'taken' });
  expect(shape([call('a'), steered, output('a'), message('I see', { origin: 'agent' })])).toEqual([
    'a',
    'a → true',
    'Stop',
    'I see',
  ]);
});

test('items that are only for people, and thoughts and calls that broke off, are left out; messages that broke off are kept', () => {
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
