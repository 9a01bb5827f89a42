import { setInterval } from 'node:timers/promises';
import { testAtLength } from '@liminal/testkit/at-length';
import type { RedisServer } from '@liminal/testkit';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { collect, delta, done, eventsOf, start, wholeRun } from '../src/testing/runs.ts';
import { ask, inBatches, ownRedis, write } from './redis-stage.ts';

const isLong = process.env['FAULTS'] === 'long';
const patience = { timeout: 60_000, interval: 20 };

describe('a Redis that is killed and restarted', () => {
  test(
    'INV-1, INV-6: loses and duplicates no events that are written in the meantime, and its readers continue',
    { timeout: isLong ? 900_000 : 120_000 },
    async () => {
      const { redis, open } = await ownRedis({ appendOnly: true });
      const [writer, reader] = [await open(), await open()];
      const runs = ['run-1', 'run-2'].map((runId) => ({
        runId,
        events: wholeRun(runId, Array(isLong ? 60_000 : 3_000).fill('some text')),
      }));
      const followed = runs.map(async ({ runId }) => collect(reader.log.follow(runId)));
      const written = runs.map(async ({ runId, events }) =>
        write(writer.log, runId, inBatches(events, 3)),
      );
      let isWritten = false;
      const all = Promise.all(written).finally(() => (isWritten = true));
      let deaths = 0;
      while (!isWritten && deaths < (isLong ? 30 : 2)) {
        const before = (await writer.log.unsettled())[0]?.lastSeq ?? 0;
        // Waits for some progress, and then kills Redis at any point.
        await expect
          .poll(
            async () => isWritten || (await writer.log.unsettled())[0]?.lastSeq !== before,
            patience,
          )
          .toBe(true);
        await redis.kill();
        await redis.restart();
        deaths += 1;
        await expect
          .poll(async () => writer.log.unsettled().then(Boolean, () => false), patience)
          .toBe(true);
      }
      const refusals = (await all).reduce((sum, count) => sum + count, 0);
      expect(deaths).toBeGreaterThan(1);
      expect(refusals).toBeGreaterThan(0);
      for (const [index, { runId, events }] of runs.entries()) {
        expect(await writer.log.read(runId)).toStrictEqual(events);
        expect(await followed[index]).toStrictEqual(events);
      }
    },
  );

  test('INV-1: an append with an unknown outcome is not written twice, and later events are not lost', async () => {
    const { redis, open } = await ownRedis();
    const [writer, other] = [await open(), await open()];
    const run = eventsOf('run-1', [start, delta('a'), delta('b'), delta('c'), delta('d'), done]);
    await writer.log.append('run-1', run.slice(0, 1));
    redis.pause();
    const unheard = writer.log.append('run-1', run.slice(1, 3));
    await expect(unheard).rejects.toMatchObject({ code: 'LOG_WRITE_FAILED' });
    redis.resume();
    await expect.poll(async () => (await other.log.read('run-1')).length, patience).toBe(3);
    await write(writer.log, 'run-1', [run.slice(1, 5)]);
    expect(await other.log.read('run-1')).toStrictEqual(run.slice(0, 5));

    redis.pause();
    const lastWord = writer.log.append('run-1', run.slice(5));
    await expect(lastWord).rejects.toMatchObject({ code: 'LOG_WRITE_FAILED' });
    redis.resume();
    await write(writer.log, 'run-1', [run.slice(5)]);
    expect(await other.log.read('run-1')).toStrictEqual(run);
    // A further append of events whose storing was confirmed is rejected as usual.
    await expect(writer.log.append('run-1', run.slice(5))).rejects.toMatchObject({
      code: 'RUN_ENDED',
    });
  });

  test('INV-1: after an append with an unknown outcome, events of another writer do not count as a retry', async () => {
    const { redis, open } = await ownRedis({ appendOnly: true });
    const [writer, other] = [await open(), await open()];
    await writer.log.append('run-1', eventsOf('run-1', [start]));
    await redis.kill();
    const unheard = writer.log.append('run-1', eventsOf('run-1', [delta('mine')], 1));
    await expect(unheard).rejects.toMatchObject({ code: 'LOG_WRITE_FAILED' });
    await redis.restart();
    const theirs = eventsOf('run-1', [delta('theirs')], 1);
    await write(other.log, 'run-1', [theirs]);
    const again = write(writer.log, 'run-1', [eventsOf('run-1', [delta('mine')], 1)]);
    await expect(again).rejects.toMatchObject({ code: 'SEQ_CONFLICT' });
    expect((await other.log.read('run-1')).slice(1)).toStrictEqual(theirs);
  });

  test('fails fast with advice while it is down, and works again without help when it is back', async () => {
    const { redis, open } = await ownRedis();
    const { log, coordination } = await open();
    await redis.kill();
    const began = performance.now();
    await expect(log.append('run-1', eventsOf('run-1', [start]))).rejects.toMatchObject({
      code: 'LOG_WRITE_FAILED',
      message: expect.stringContaining('Check that Redis runs'),
    });
    await expect(coordination.leases.acquire('a', 'b', 1_000)).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
    });
    expect(performance.now() - began).toBeLessThan(10_000);
    await redis.restart();
    await write(log, 'run-1', [wholeRun('run-1', ['a'])]);
    expect(await log.read('run-1')).toStrictEqual(wholeRun('run-1', ['a']));
  });

  test('while Redis is gone, a projector can stop without delay', async () => {
    const { redis, open } = await ownRedis();
    const { coordination } = await open();
    await redis.kill();
    const stop = new AbortController();
    const stopped = (async () => {
      for await (const _ of coordination.registry.claims('worker', stop.signal)) break;
    })();

    await expect(coordination.leases.acquire('a', 'b', 1_000)).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
    });
    stop.abort();

    await expect(stopped).resolves.toBeUndefined();
  });

  test('INV-1: leaves no gap if it comes back without the newest events', async () => {
    const { redis, open } = await ownRedis();
    const { log } = await open();
    const run = wholeRun('run-1', ['a', 'b', 'c', 'd']);
    for (const event of run.slice(0, 2)) await log.append('run-1', [event]);
    const connection = new Redis(redis.url);
    onTestFinished(() => connection.disconnect());
    const old = await connection.dumpBuffer('codex:run:run-1:events');
    await log.append('run-1', run.slice(2, 3));
    // Restore an older state, as after the takeover of a replica, or after a restart of a Redis that had not written
    // its last second to the disk.
    await connection.restore('codex:run:run-1:events', 0, old, 'REPLACE');
    await connection.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await expect
      .poll(async () => log.read('run-1').then(Boolean, () => false), patience)
      .toBe(true);
    const next = write(log, 'run-1', [run.slice(3, 4)]);
    await expect(next).rejects.toMatchObject({ code: 'SEQ_CONFLICT' });
    expect(await log.read('run-1')).toStrictEqual(run.slice(0, 2));
  });

  testAtLength('is not disconnected by a timeout of the previous connection', async () => {
    const { redis, open } = await ownRedis({ appendOnly: true });
    const { log } = await open();
    redis.pause();
    const unheard = log.unsettled().catch((error: unknown) => error);
    await redis.kill();
    expect(await unheard).toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    await redis.restart();
    const isBack = async () => log.unsettled().then(Boolean, () => false);
    await expect.poll(isBack, patience).toBe(true);
    const clients = async () => String(await ask(redis, 'CLIENT', 'LIST')).match(/^id=\d+/gm);
    const [first] = (await clients()) ?? [];
    // Watch for longer than an answer may take: the connection must not be lost again.
    const until = performance.now() + 3_500;
    for await (const _ of setInterval(20)) {
      expect(await isBack()).toBe(true);
      if (performance.now() > until) break;
    }
    expect((await clients())?.[0]).toBe(first);
  });

  test('cannot be opened while it is down', async () => {
    const { redis, open } = await ownRedis();
    await redis.kill();
    await expect(open()).rejects.toMatchObject({ code: 'REDIS_UNAVAILABLE' });
  });

  test('without its data: readers end, lease tokens never decrease, and new runs work', async () => {
    const { redis, open } = await ownRedis();
    const { log, coordination } = await open();
    const stop = new AbortController();
    const claimed: string[] = [];
    const claiming = (async () => {
      for await (const { runId } of coordination.registry.claims('worker', stop.signal))
        claimed.push(runId);
    })();
    const lost = eventsOf('lost', [start, delta('a')]);
    await log.append('lost', lost);
    const followed = collect(log.follow('lost'));
    await expect.poll(() => claimed, patience).toEqual(['lost']);
    const lease = await coordination.leases.acquire('session-1', 'server-1', 60_000);
    await coordination.leases.release(lease!);
    await redis.kill();
    await redis.restart();
    expect(await followed).toStrictEqual(lost);
    await write(log, 'new', [wholeRun('new', ['a'])]);
    expect(await collect(log.follow('new'))).toStrictEqual(wholeRun('new', ['a']));
    await expect.poll(() => claimed, patience).toEqual(['lost', 'new']);
    const next = await coordination.leases.acquire('session-1', 'server-2', 60_000);
    expect(next?.token).toBeGreaterThan(lease!.token);
    stop.abort();
    await claiming;
  });
});

describe('the memory of a Redis', () => {
  test(
    'FR-001-21: stays constant, however many runs have been deleted',
    { timeout: isLong ? 600_000 : 120_000 },
    async () => {
      const { redis, open } = await ownRedis();
      const { log, coordination } = await open({ settledTtlMs: 1 });
      const stop = new AbortController();
      const projecting = (async () => {
        for await (const claim of coordination.registry.claims('worker', stop.signal)) {
          for await (const event of log.follow(claim.runId)) await claim.projected(event.seq);
          await log.settle(claim.runId);
          await claim.done();
        }
      })();
      const runs = isLong ? 10_000 : 150;
      const allDone = async () => {
        await expect.poll(async () => ask(redis, 'XLEN', 'codex:runs'), patience).toBe(0);
      };
      const play = async (from: number, to: number) => {
        for (let index = from; index < to; index += 1) {
          const runId = `run-${index}`;
          const events = wholeRun(runId, Array(20).fill('some text that takes room '.repeat(20)));
          for (const batch of inBatches(events, 8)) await log.append(runId, batch);
          if (index % 100 === 99) await allDone();
        }
        await allDone();
        // Settled runs expire at once, but Redis deletes them later.
        await expect.poll(async () => ask(redis, 'DBSIZE'), patience).toBeLessThan(10);
        return usedMemory(redis);
      };
      const early = await play(0, Math.floor(runs / 10));
      const late = await play(Math.floor(runs / 10), runs);
      stop.abort();
      await projecting;
      expect(late - early).toBeLessThan(500_000);
    },
  );
});

/** The bytes of stored data, without connection buffers. */
async function usedMemory(redis: RedisServer): Promise<number> {
  const stats = (await ask(redis, 'MEMORY', 'STATS')) as unknown[];
  return Number(stats[stats.indexOf('dataset.bytes') + 1]);
}
