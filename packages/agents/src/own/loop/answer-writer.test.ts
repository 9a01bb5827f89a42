import type { EventDraft, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { TurnWriter } from '../../base/turn-writer.ts';
import { foldTurn } from '../../testing/folding.ts';
import { AnswerWriter } from './answer-writer.ts';
import { ModelError } from './model-error.ts';

const time = '2026-01-01T00:00:00.000Z';

/** A writer of one answer. @param taken - The ids that the session already has. */
function writing(taken: string[] = [], held?: Map<string, OutputItem>, now = () => time) {
  const drafts: EventDraft[] = [];
  const turn = new TurnWriter('t', (draft) => void drafts.push(draft));
  turn.at(time);
  turn.begin({ modelId: 'm', providerId: 'p', trigger: 'user' }, undefined);
  const ids = new Set(taken);
  const writer = new AnswerWriter(turn, ids, now, held);
  /** Each item of the turn: its type, id and text. */
  const shown = (): string[] =>
    foldTurn(drafts, 't').outputItems.map((item) => {
      const { type, id } = item;
      if (type === 'function_call') return `${type} ${id} ${item.callId}: ${item.arguments}`;
      return `${type} ${id}: ${'content' in item ? item.content : ''}`;
    });
  const payloads = () => drafts.map(({ payload }) => payload);
  return { writer, turn, ids, shown, payloads, drafts };
}

const message = (id: string, content = ''): OutputItem => ({
  type: 'message',
  id,
  content,
  origin: 'agent',
});
const call = (id: string, callId: string): OutputItem => ({
  type: 'function_call',
  id,
  callId,
  name: 'echo',
  arguments: '{}',
  origin: 'agent',
});
const output = (id: string, callId: string): OutputItem => ({
  type: 'function_call_output',
  id,
  callId,
  output: 'x',
  success: true,
  origin: 'tool_harness',
});

test('an id that the session already has gets the next number; a call id that equals the item’s id gets the same new id', () => {
  const { writer, ids, shown } = writing(['a', 'a:2', 'c']);
  expect(['a', 'b', 'a', 'a'].map((id) => writer.add(message(id)))).toEqual([
    'a:3',
    'b',
    'a:4',
    'a:5',
  ]);
  expect(writer.add(call('c', 'c'))).toBe('c:2');
  expect(writer.add(call('c', 'other'))).toBe('c:3');
  expect(shown().slice(-2)).toEqual(['function_call c:2 c:2: {}', 'function_call c:3 other: {}']);
  expect([...ids]).toEqual(['a', 'a:2', 'c', 'a:3', 'b', 'a:4', 'a:5', 'c:2', 'c:3']);
});

test('thinking in tags at the start of an answer becomes a reasoning before the message', () => {
  const { writer, shown } = writing();
  const id = writer.start(message('a'));
  expect(writer.hasWritten).toBe(false);
  for (const text of ['<thi', 'nk>I count.</think>', '\nFour', '']) writer.append(id, text);
  writer.done(id);
  expect(writer.hasWritten).toBe(true);
  expect(shown()).toEqual(['reasoning a:thinking: I count.', 'message a: Four']);
  expect(writer.written).toEqual(['a:thinking', 'a']);
});

test('words before a closing tag become a reasoning, and the message continues under another id', () => {
  const { writer, shown, payloads } = writing();
  const id = writer.start(message('a'));
  writer.append(id, 'I count.');
  writer.append(id, '</think>Four.');
  writer.done(id);
  expect(shown()).toEqual(['reasoning a:thinking: I count.', 'message a:2: Four.']);
  expect(payloads()).toContainEqual({ type: 'item_cancelled', itemId: 'a', reason: 'thinking' });
  expect(writer.written).toEqual(['a:thinking', 'a:2']);
});

test('a whole text at the end of a message replaces its words, without the thinking in it', () => {
  const { writer, shown } = writing();
  const id = writer.start(message('a'));
  writer.append(id, '<think>I count.</think>Fo');
  writer.done(id, { content: '<think>I count.</think>Four.' });
  expect(shown()).toEqual(['reasoning a:thinking: I count.', 'message a: Four.']);
  const other = writing();
  other.writer.done(other.writer.start(message('a')), { content: 'I count.</think>Four.' });
  expect(other.shown()).toEqual(['message a: Four.']);
});

test('an empty answer becomes an empty message; an answer that has only thinking becomes no message', () => {
  const empty = writing();
  empty.writer.add(message('a'));
  expect(empty.shown()).toEqual(['message a: ']);
  const thinking = writing();
  const id = thinking.writer.start(message('a'));
  thinking.writer.append(id, '<think>I count.');
  thinking.writer.done(id, { content: '' });
  expect(thinking.shown()).toEqual(['reasoning a:thinking: I count.']);
});

test('only the first message of an answer may begin with thinking', () => {
  const { writer, shown } = writing();
  writer.add({ type: 'reasoning', id: 'r', content: 'I count.', origin: 'agent' });
  const id = writer.start(message('a'));
  writer.append(id, '<think>Four.');
  expect(writer.item(id)).toMatchObject({ content: '<think>Four.' });
  writer.done(id);
  writer.done(id);
  expect(shown()).toEqual(['reasoning r: I count.', 'message a: <think>Four.']);
});

test('text that may be the start of a tag is written before the next item', () => {
  const { writer, shown } = writing();
  writer.append(writer.start(message('a')), '<thi');
  expect(shown()).toEqual([]);
  writer.add(call('c', 'c'));
  expect(shown()).toEqual(['message a: <thi', 'function_call c c: {}']);
});

test('a call is held for its runner, and ends at once if the server sends its output', () => {
  const held = new Map<string, OutputItem>();
  const { writer, turn } = writing([], held);
  const [mine, theirs] = [writer.start(call('a', 'x')), writer.start(call('b', 'y'))];
  for (const id of [mine, theirs]) writer.done(id, { arguments: '{"text":"hi"}' });
  expect([...held.keys()]).toEqual(['a', 'b']);
  expect(held.get('a')).toMatchObject({ arguments: '{"text":"hi"}' });
  expect(turn.open).toEqual(['a', 'b']);
  writer.add(output('o', 'y'));
  expect([...held.keys()]).toEqual(['a']);
  expect(turn.open).toEqual(['a']);
});

test('a withdrawn answer leaves no item, and its parts are counted anew', () => {
  const { writer, shown, payloads } = writing();
  writer.append(writer.start(message('a')), 'Four.');
  writer.add(call('c', 'c'));
  writer.withdraw('retried');
  expect(writer.hasWritten).toBe(false);
  expect(shown()).toEqual([]);
  const withdrawn = { type: 'item_cancelled', reason: 'retried' };
  expect(payloads().slice(-2)).toMatchObject([
    { ...withdrawn, itemId: 'a' },
    { ...withdrawn, itemId: 'c' },
  ]);
  for (let part = 0; part < 10_000; part += 1) writer.countPart();
  expect(() => writer.countPart()).toThrow(ModelError);
  expect(() => writer.countPart()).toThrow(expect.objectContaining({ code: 'MODEL_ERROR' }));
  expect(() => writer.start(message('b'))).toThrow('The answer has more than 10000 parts.');
});

test('data that the protocol lacks is stored with the next item that ends', () => {
  const { writer, payloads } = writing();
  writer.keep({ odd: 1 });
  writer.add(call('c', 'c'));
  expect(payloads().at(-1)).toMatchObject({ finalItem: { raw: [{ odd: 1 }] } });
});

test('thinking and words that arrive in many pieces are one item each, and the thinking ends first', () => {
  const { writer, ids, payloads } = writing();
  const id = writer.start(message('a'));
  for (const text of ['<think>', 'I ', 'count.', '</think>', 'Fo', 'ur', '.']) {
    writer.append(id, text);
  }
  writer.done(id);
  const shapes = payloads()
    .slice(1)
    .map((payload) => {
      if (payload.type === 'item_delta') return `+${payload.deltaContent}`;
      return 'itemId' in payload ? `${payload.type} ${payload.itemId}` : payload.type;
    });
  expect(shapes).toEqual([
    'item_start a:thinking',
    '+I ',
    '+count.',
    'item_done a:thinking',
    'item_start a',
    '+Fo',
    '+ur',
    '+.',
    'item_done a',
  ]);
  expect(payloads()[4]).toMatchObject({ finalItem: { type: 'reasoning', origin: 'agent' } });
  expect([...ids]).toEqual(['a', 'a:thinking']);
});

test('if all words turn out to be thinking, no message is left', () => {
  const { writer, shown } = writing();
  const id = writer.start(message('a'));
  writer.append(id, 'I count.');
  writer.append(id, '</think>');
  writer.done(id);
  expect(shown()).toEqual(['reasoning a:thinking: I count.']);
  const none = writing();
  none.writer.append(none.writer.start(message('a')), '</think>Four.');
  none.writer.done('a');
  expect(none.shown()).toEqual(['message a: Four.']);
});

test('text that may be the start of a tag is written at the end of the message', () => {
  const { writer, shown } = writing();
  writer.append(writer.start(message('a')), 'a <');
  writer.done('a');
  expect(shown()).toEqual(['message a: a <']);
});

test('only messages of the model may begin with thinking', () => {
  const { writer, shown } = writing();
  const id = writer.start({ ...message('a'), origin: 'system' } as OutputItem);
  writer.append(id, '<think>I count.</think>');
  writer.done(id);
  expect(shown()).toEqual(['message a: <think>I count.</think>']);
});

test('an empty text writes no event', () => {
  const { writer, payloads } = writing();
  const id = writer.start({ type: 'reasoning', id: 'r', content: '', origin: 'agent' });
  const before = payloads().length;
  writer.append(id, '');
  expect(payloads()).toHaveLength(before);
});

test('each event has the time at which it is written', () => {
  let second = 0;
  const now = () => `2026-01-01T00:00:0${(second += 1)}.000Z`;
  const { writer, drafts } = writing([], undefined, now);
  writer.add(call('c', 'c'));
  expect(drafts.map(({ timestamp }) => timestamp)).toEqual([
    time,
    '2026-01-01T00:00:01.000Z',
    '2026-01-01T00:00:02.000Z',
  ]);
});
