import { expect, it } from 'vitest';
import { isAtEnd, followsEnd } from './stick-to-end.ts';

const atEnd = { top: 500, sticks: true };

it('a place near the end counts as the end', () => {
  expect(isAtEnd({ top: 470, content: 1000, window: 500 })).toBe(true);
  expect(isAtEnd({ top: 400, content: 1000, window: 500 })).toBe(false);
});

it('growing content does not stop following the end', () => {
  expect(followsEnd(atEnd, { top: 500, content: 1400, window: 500 })).toBe(true);
});

it('scrolling up leaves the end', () => {
  expect(followsEnd(atEnd, { top: 420, content: 1000, window: 500 })).toBe(false);
});

it('a reader who has left the end is not moved until reaching it again', () => {
  const away = { top: 100, sticks: false };
  expect(followsEnd(away, { top: 300, content: 1000, window: 500 })).toBe(false);
  expect(followsEnd(away, { top: 499, content: 1000, window: 500 })).toBe(true);
});
