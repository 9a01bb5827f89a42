import { expect, test } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

const split = (splitter: LineSplitter, ...chunks: Buffer[]): string[] =>
  chunks.flatMap((chunk) => splitter.push(chunk));

test('lines are whole wherever the chunks are cut, even within a character', () => {
  const text = '{"a":"ä€😀"}\n\nsecond\r\nthird\n';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    expect(split(new LineSplitter(), ...chunks)).toEqual(['{"a":"ä€😀"}', '', 'second\r', 'third']);
  }
});

test('an unfinished line is held until its end arrives', () => {
  const splitter = new LineSplitter();
  expect(split(splitter, Buffer.from('one\ntw'))).toEqual(['one']);
  expect(splitter.rest()).toBe('tw');
  expect(split(splitter, Buffer.from('o\n'))).toEqual(['two']);
  expect(splitter.rest()).toBe('');
});

test('a line beyond the limit is an error, however it is split into chunks', () => {
  const long = Buffer.alloc(2 * 1024 * 1024, 'x');
  const splitter = new LineSplitter(5 * 1024 * 1024);
  splitter.push(long);
  splitter.push(long);
  expect(() => splitter.push(long)).toThrow(expect.objectContaining({ code: 'PROTOCOL_ERROR' }));
});

test('many lines that only together exceed the limit are accepted', () => {
  const splitter = new LineSplitter(10);
  expect(split(splitter, Buffer.from('12345\n67890\n12345\n'))).toHaveLength(3);
});
