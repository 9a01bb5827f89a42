import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Liveness } from './liveness.ts';

const actions = { ping: vi.fn<() => void>(), onDead: vi.fn<() => void>() };

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetAllMocks();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a silent connection receives a ping, and is closed if there is no answer', () => {
  new Liveness(actions).onMessage();
  vi.advanceTimersByTime(20_000);
  expect(actions.ping).toHaveBeenCalledOnce();
  expect(actions.onDead).not.toHaveBeenCalled();
  vi.advanceTimersByTime(8_000);
  expect(actions.onDead).toHaveBeenCalledOnce();
});

it('any message proves that the connection is alive', () => {
  const liveness = new Liveness(actions);
  liveness.onMessage();
  vi.advanceTimersByTime(25_000);
  liveness.onMessage();
  vi.advanceTimersByTime(19_000);
  expect(actions.ping).toHaveBeenCalledOnce();
  expect(actions.onDead).not.toHaveBeenCalled();
});

it('a check sends a ping at once, without waiting until the connection is silent', () => {
  const liveness = new Liveness(actions);
  liveness.onMessage();
  liveness.check();
  expect(actions.ping).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(8_000);
  expect(actions.onDead).toHaveBeenCalledOnce();
});

it('after a stop, no ping is sent and no connection is closed', () => {
  const liveness = new Liveness(actions);
  liveness.onMessage();
  liveness.stop();
  vi.advanceTimersByTime(60_000);
  expect(actions.ping).not.toHaveBeenCalled();
  expect(actions.onDead).not.toHaveBeenCalled();
});
