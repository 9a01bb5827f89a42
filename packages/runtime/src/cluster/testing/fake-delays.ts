import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import timers from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

/**
 * Fakes all clocks and timers except `setImmediate` until the test ends. This includes the promise timers of
 * `node:timers/promises`, `os.uptime` and `AbortSignal.timeout`, which Vitest does not fake.
 */
export function useFakeDelays(): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  const real = { setTimeout: timers.setTimeout, uptime: os.uptime };
  replace({ setTimeout: fakeDelay, uptime: () => Date.now() / 1000 });
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(fakeTimeout);
  onTestFinished(() => {
    timeout.mockRestore();
    vi.useRealTimers();
    replace(real);
  });
}

function replace(clock: Pick<typeof timers, 'setTimeout'> & Pick<typeof os, 'uptime'>): void {
  timers.setTimeout = clock.setTimeout;
  os.uptime = clock.uptime;
  // Modules that import these functions by name see the change only after this call.
  syncBuiltinESMExports();
}

async function fakeDelay<T = void>(
  ms?: number,
  value?: T,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<T> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = (): void => {
    clearTimeout(timer);
    reject(signal?.reason);
  };
  signal?.addEventListener('abort', abort, { once: true });
  await promise.finally(() => signal?.removeEventListener('abort', abort));
  return value as T;
}

function fakeTimeout(ms: number): AbortSignal {
  const abort = new AbortController();
  setTimeout(() => abort.abort(new DOMException('It took too long.', 'TimeoutError')), ms);
  return abort.signal;
}
