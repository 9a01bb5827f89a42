import { expect, it } from 'vitest';
import { isAtEnd, followsEnd } from './stick-to-end.ts';

const atEnd = { top: 500, sticks: true };

it('a position near the end counts as the end', () => {
  expect(isAtEnd({ top: 470, content: 1000, window: 500 })).toBe(true);
  expect(isAtEnd({ top: 400, content: 1000, window: 500 })).toBe(false);
});

it('when the content grows, the page still follows the end', () => {
  expect(followsEnd(atEnd, { top: 500, content: 1400, window: 500 })).toBe(true);
});

it('when the reader scrolls up, the page no longer follows the end', () => {
  expect(followsEnd(atEnd, { top: 420, content: 1000, window: 500 })).toBe(false);
});

it('if the reader has left the end, the page does not scroll until the reader reaches the end again', () => {
  const away = { top: 100, sticks: false };
  expect(followsEnd(away, { top: 300, content: 1000, window: 500 })).toBe(false);
  expect(followsEnd(away, { top: 499, content: 1000, window: 500 })).toBe(true);
});
