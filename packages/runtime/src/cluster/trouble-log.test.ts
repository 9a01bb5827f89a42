import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TroubleLog } from './trouble-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a repeated error is logged when it begins and when it is over', () => {
  const lines: [object, string][] = [];
  const warn = (details: object, text: string): void => void lines.push([details, text]);
  const log = new TroubleLog({ info: () => {}, error: () => {}, warn });
  for (let second = 0; second < 60; second += 1) {
    log.note(new Error('Redis is away.'));
    vi.advanceTimersByTime(1_000);
  }
  const error = expect.stringContaining('Redis is away.');
  expect(lines).toEqual([[expect.objectContaining({ error }), 'cluster coordination failed']]);

  vi.advanceTimersByTime(10_000);
  expect(lines.slice(1)).toEqual([
    [expect.objectContaining({ error, times: 60 }), 'cluster coordination works again'],
  ]);
});

test('an error that occurred only once is not logged as over, and a different error is logged separately', () => {
  const texts: string[] = [];
  const warn = (_: object, text: string): void => void texts.push(text);
  const log = new TroubleLog({ info: () => {}, error: () => {}, warn });
  log.note(new Error('One.'));
  log.note(new Error('Two.'));
  vi.advanceTimersByTime(60_000);
  log.note(new Error('One.'));
  expect(texts).toEqual(Array(3).fill('cluster coordination failed'));
});
