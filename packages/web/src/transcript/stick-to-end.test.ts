import { expect, it } from 'vitest';
import { isAtEnd, keepsToEnd } from './stick-to-end.ts';

const atEnd = { top: 500, sticks: true };

it('near the end is at the end', () => {
  expect(isAtEnd({ top: 470, content: 1000, window: 500 })).toBe(true);
  expect(isAtEnd({ top: 400, content: 1000, window: 500 })).toBe(false);
});

it('growing content does not take the reader off the end', () => {
  expect(keepsToEnd(atEnd, { top: 500, content: 1400, window: 500 })).toBe(true);
});

it('a movement upwards leaves the end', () => {
  expect(keepsToEnd(atEnd, { top: 420, content: 1000, window: 500 })).toBe(false);
});

it('a reader who has left stays away until the end is reached again', () => {
  const away = { top: 100, sticks: false };
  expect(keepsToEnd(away, { top: 300, content: 1000, window: 500 })).toBe(false);
  expect(keepsToEnd(away, { top: 499, content: 1000, window: 500 })).toBe(true);
});
