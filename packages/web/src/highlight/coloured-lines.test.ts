import { expect, it } from 'vitest';
import { joinTokens } from './coloured-lines.ts';

const token = (offset: number, content: string, color: string) => ({
  offset,
  content,
  htmlStyle: { color, '--theme': color },
});

it('consecutive tokens of the same colour are joined, together with the space around them', () => {
  const tokens = [
    token(0, '  ', 'black'),
    token(2, 'const', 'red'),
    token(7, ' ', 'black'),
    token(8, 'a', 'black'),
    token(9, ';', 'black'),
  ];
  expect(joinTokens(tokens)).toEqual([
    { offset: 0, content: '  const ', css: 'color: red' },
    { offset: 8, content: 'a;', css: 'color: black' },
  ]);
});

it('a line that is empty or contains only spaces is not changed', () => {
  expect(joinTokens([])).toEqual([]);
  expect(joinTokens([token(4, '    ', 'black')])).toHaveLength(1);
});
