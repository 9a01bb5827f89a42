import { expect, test } from 'vitest';
import { GrowingText } from './growing-text.ts';

test('the text is the concatenation of all added pieces, even if the text is read in between', () => {
  const pieces = Array.from({ length: 1_000 }, (_, index) => `${index} `);
  const text = new GrowingText();
  const taken: string[] = [];
  for (const [index, piece] of pieces.entries()) {
    text.add(piece);
    if (index % 300 === 7) taken.push(text.take());
  }
  expect([...taken, text.take()].join('')).toBe(pieces.join(''));
  expect(text.take()).toBe('');
});
