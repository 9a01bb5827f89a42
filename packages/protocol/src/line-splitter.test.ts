import { expect, test } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

test('lines end only at a line feed, even if their text arrives in pieces', () => {
  const lines = ['{"a":"one\u2028two\u2029three"}', '', '{"b":"\u0085"}\r'];
  const text = `${lines.join('\n')}\n{"not":"whole`;
  for (let size = 1; size <= text.length; size += 1) {
    const splitter = new LineSplitter();
    const found: string[] = [];
    for (let at = 0; at < text.length; at += size) {
      found.push(...splitter.push(text.slice(at, at + size)));
    }
    expect(found).toEqual(lines);
    expect(splitter.rest).toBe('{"not":"whole');
  }
});

test('an unfinished line is held until its end arrives', () => {
  const splitter = new LineSplitter();
  expect(splitter.push('one\ntw')).toEqual(['one']);
  expect(splitter.rest).toBe('tw');
  expect(splitter.push('o\n')).toEqual(['two']);
  expect(splitter.rest).toBe('');
});
