import { expect, test, vi } from 'vitest';
import { Readiness } from './readiness.ts';

test('the report lists an unreachable service, without the text of its error', async () => {
  const readiness = new Readiness([
    { name: 'The database', ask: async () => 'here' },
    { name: 'Redis', ask: () => Promise.reject(new Error('redis://:hush@10.0.0.1 is away')) },
  ]);
  expect(await readiness.troubles()).toEqual(['Redis cannot be reached.']);
});

test('a service that does not answer within a second is reported and is not asked again before it answers; simultaneous checks ask it only once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  try {
    const answer = Promise.withResolvers<void>();
    const ask = vi.fn<() => Promise<void>>(() => answer.promise);
    const readiness = new Readiness([{ name: 'The database', ask }]);
    const probes = Promise.all(Array.from({ length: 1_000 }, () => readiness.troubles()));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(new Set((await probes).flat())).toEqual(new Set(['The database does not answer.']));
    await vi.advanceTimersByTimeAsync(1);
    const later = readiness.troubles();
    expect(ask).toHaveBeenCalledOnce();
    answer.resolve();
    expect(await later).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_001);
    await readiness.troubles();
    expect(ask).toHaveBeenCalledTimes(2);
  } finally {
    vi.useRealTimers();
  }
});
