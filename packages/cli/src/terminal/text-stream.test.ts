import type { UpsertObject } from '@liminal/protocol';
import { beforeEach, expect, test } from 'vitest';
import { cleanText } from './clean-text.ts';
import { TextStream } from './text-stream.ts';

let written: string;
let stream: TextStream;

beforeEach(() => {
  written = '';
  stream = new TextStream((text) => (written += text));
});

type Message = Extract<UpsertObject, { type: 'message' }>;

function message(itemId: string, content: string, more: Partial<Message> = {}): Message {
  return {
    type: 'message',
    turnId: 't',
    sessionId: 's',
    itemId,
    sourceTimestamp: '',
    emittedAt: '',
    status: 'update',
    origin: 'agent',
    content,
    ...more,
  };
}

const show = (...items: Message[]) => stream.update({ turnId: 't', status: 'in_progress', items });

test('growing text is written as it arrives, and each part is written once', () => {
  show(message('a', 'Hel'));
  show(message('a', 'Hello'));
  show(message('a', 'Hello'));
  show(message('a', 'Hello, world'));
  expect(written).toBe('Hello, world');
});

test('SAFE: a character that consists of several code points is written as a whole, even if its parts arrive separately', () => {
  const said = 'Now 👩🏽‍💻, क्‍ष and \u001b[1mbold\r\n';
  const writes: string[] = [];
  const pieces = new TextStream((text) => writes.push(text));
  for (let end = 1; end <= said.length; end += 1) {
    const items = [message('a', said.slice(0, end))];
    pieces.update({ turnId: 't', status: 'in_progress', items });
  }
  pieces.breakLine();
  expect(writes.join('')).toBe(said);
  expect(writes.map(cleanText).join('')).toBe(cleanText(said));
});

test('the next message begins on a new line', () => {
  show(message('a', 'one'));
  show(message('a', 'one'), message('b', 'two'));
  stream.breakLine();
  stream.breakLine();
  expect(written).toBe('one\ntwo\n');
});

test('after a retried model call, the new text follows the text that was already written', () => {
  show(message('a', 'one two'));
  show(message('a', 'three'));
  expect(written).toBe('one two\nthree');
});

test('only the text of the agent itself is written', () => {
  show(
    message('a', 'a question', { origin: 'user' }),
    message('b', 'aside', { parentCallId: 'c' }),
  );
  expect(written).toBe('');
});
