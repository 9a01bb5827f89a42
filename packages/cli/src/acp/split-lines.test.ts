import { expect, test } from 'vitest';
import { splitLines } from './split-lines.ts';

test('only a line feed ends a line, even if the line arrives in several parts', () => {
  const lines = ['{"a":"one\u2028two\u2029three"}', '', '{"b":"\u0085"}\r'];
  const text = `${lines.join('\n')}\n{"not":"whole`;
  for (let size = 1; size <= text.length; size += 1) {
    const heard: string[] = [];
    const take = splitLines((line) => heard.push(line));
    for (let at = 0; at < text.length; at += size) take(text.slice(at, at + size));
    expect(heard).toEqual(lines);
  }
});
