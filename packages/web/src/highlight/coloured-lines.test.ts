import { expect, it } from 'vitest';
import { joinTokens } from './coloured-lines.ts';

const token = (offset: number, content: string, color: string) => ({
  offset,
  content,
  htmlStyle: { color, '--theme': color },
});

it('what follows each other in one colour is one token, with the space around it', () => {
  const tokens = [
    token(0, '  ', 'black'),
    token(2, 'const', 'red'),
    token(7, ' ', 'black'),
    token(8, 'a', 'black'),
    token(9, ';', 'black'),
  ];
  expect(joinTokens(tokens)).toEqual([
    { offset: 0, content: '  const ', htmlStyle: { color: 'red' } },
    { offset: 8, content: 'a;', htmlStyle: { color: 'black' } },
  ]);
});

it('a line of nothing, or of space, stays what it is', () => {
  expect(joinTokens([])).toEqual([]);
  expect(joinTokens([token(4, '    ', 'black')])).toHaveLength(1);
});
