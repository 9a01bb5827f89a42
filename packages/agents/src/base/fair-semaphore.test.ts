import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairSemaphore } from './fair-semaphore.ts';

const [ada, bob, eve] = [{}, {}, {}];

/** Named work that ends when the test ends it. */
class Bench {
  readonly limit: FairSemaphore;
  readonly running = new Map<string, () => void>();
  readonly started: string[] = [];
  readonly waited: string[] = [];

  constructor(limits: { each: number; total: number }) {
    this.limit = new FairSemaphore(limits);
  }

  run(owner: object, name: string, signal?: AbortSignal): Promise<void> {
    const start = async () => {
      this.started.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.running.set(name, resolve);
      await promise;
      this.running.delete(name);
    };
    return this.limit.run(owner, start, signal, () => this.waited.push(name));
  }

  async end(name: string): Promise<void> {
    this.running.get(name)?.();
    await this.settle();
  }

  async settle(): Promise<void> {
    await new Promise((resolve) => void setImmediate(resolve));
  }

  get names(): string[] {
    return [...this.running.keys()];
  }
}

test('one owner’s work is limited, and the owner’s waiting work runs in order', async () => {
  const bench = new Bench({ each: 2, total: 8 });
  const all = ['1', '2', '3', '4'].map((name) => bench.run(ada, name));
  expect(bench.names).toEqual(['1', '2']);
  expect(bench.waited).toEqual(['3', '4']);
  await bench.end('2');
  expect(bench.names).toEqual(['1', '3']);
  for (const name of ['1', '3', '4']) await bench.end(name);
  await Promise.all(all);
  expect(bench.started).toEqual(['1', '2', '3', '4']);
});

test('an owner with much work leaves slots for the other owners', async () => {
  const bench = new Bench({ each: 10, total: 4 });
  const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => bench.run(ada, name));
  all.push(bench.run(bob, 'b1'), bench.run(bob, 'b2'), bench.run(eve, 'e1'));
  expect(bench.names).toEqual(['a1', 'a2', 'b1', 'e1']);
  // Ada and Bob have running work: they take turns.
  for (const name of ['e1', 'b1']) await bench.end(name);
  expect(bench.names).toEqual(['a1', 'a2', 'b2']);
  for (const name of ['a1', 'a2', 'b2', 'a3', 'a4', 'a5']) await bench.end(name);
  await Promise.all(all);
});

test('waiting owners take turns', async () => {
  const bench = new Bench({ each: 1, total: 1 });
  const all = [bench.run(ada, 'a1'), bench.run(ada, 'a2'), bench.run(ada, 'a3')];
  all.push(bench.run(bob, 'b1'), bench.run(bob, 'b2'));
  for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await bench.end(name);
  await Promise.all(all);
  expect(bench.started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
});

test('work that is cancelled while it waits leaves the queue and never starts', async () => {
  const bench = new Bench({ each: 1, total: 1 });
  const stop = new AbortController();
  const first = bench.run(ada, '1');
  const second = bench.run(ada, '2', stop.signal);
  const third = bench.run(ada, '3');
  stop.abort(new Error('stopped'));
  await expect(second).rejects.toThrow('stopped');
  await expect(bench.run(ada, '4', stop.signal)).rejects.toThrow('stopped');
  await bench.end('1');
  await bench.end('3');
  await Promise.all([first, third]);
  expect(bench.started).toEqual(['1', '3']);
});

test('work that fails frees its slot, and a late abort of its signal changes nothing', async () => {
  const limit = new FairSemaphore({ each: 1, total: 2 });
  const stop = new AbortController();
  const fails = async () => Promise.reject(new Error('failed'));
  const failed = [limit.run(ada, fails, stop.signal), limit.run(ada, fails, stop.signal)];
  for (const one of failed) await expect(one).rejects.toThrow('failed');
  stop.abort();
  expect(await limit.run(ada, async () => 'ran')).toBe('ran');
});

test('for random owners and work, no limit is exceeded, and all work that is not cancelled ends', async () => {
  const work = fc.record({ owner: fc.constantFrom(ada, bob, eve), steps: fc.nat(3) });
  const cancelled = fc.array(fc.nat(30), { maxLength: 5 });
  const bounds = fc.record({
    each: fc.integer({ min: 1, max: 4 }),
    total: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(work, { maxLength: 30 }),
      cancelled,
      bounds,
      async (all, stops, limits) => {
        const limit = new FairSemaphore(limits);
        const running: object[] = [];
        let isWithin = true;
        const runs = all.map(async ({ owner, steps }, at) => {
          const stop = new AbortController();
          const run = limit.run(
            owner,
            async () => {
              running.push(owner);
              const own = running.filter((one) => one === owner).length;
              isWithin &&= own <= limits.each && running.length <= limits.total;
              for (let step = 0; step < steps; step += 1) await Promise.resolve();
              running.splice(running.indexOf(owner), 1);
            },
            stop.signal,
          );
          if (stops.includes(at)) stop.abort();
          return run.catch(() => undefined);
        });
        await Promise.all(runs);
        return isWithin && running.length === 0;
      },
    ),
  );
});
