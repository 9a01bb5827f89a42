import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Liveness } from './liveness.ts';

const actions = { ask: vi.fn<() => void>(), giveUp: vi.fn<() => void>() };

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetAllMocks();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a silent connection is asked for a sign of life, and given up without an answer', () => {
  new Liveness(actions).heard();
  vi.advanceTimersByTime(20_000);
  expect(actions.ask).toHaveBeenCalledOnce();
  expect(actions.giveUp).not.toHaveBeenCalled();
  vi.advanceTimersByTime(8_000);
  expect(actions.giveUp).toHaveBeenCalledOnce();
});

it('any message is a sign of life', () => {
  const liveness = new Liveness(actions);
  liveness.heard();
  vi.advanceTimersByTime(25_000);
  liveness.heard();
  vi.advanceTimersByTime(19_000);
  expect(actions.ask).toHaveBeenCalledOnce();
  expect(actions.giveUp).not.toHaveBeenCalled();
});

it('a check asks at once instead of after the silence', () => {
  const liveness = new Liveness(actions);
  liveness.heard();
  liveness.check();
  expect(actions.ask).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(8_000);
  expect(actions.giveUp).toHaveBeenCalledOnce();
});

it('nothing happens after a stop', () => {
  const liveness = new Liveness(actions);
  liveness.heard();
  liveness.stop();
  vi.advanceTimersByTime(60_000);
  expect(actions.ask).not.toHaveBeenCalled();
  expect(actions.giveUp).not.toHaveBeenCalled();
});
