import { startRedisCluster, type TestRedisCluster } from '@liminal/testkit';
import calculateSlot from 'cluster-key-slot';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redisSuites } from '../src/testing/redis-suites.ts';
import { collect, delta, done, eventsOf, start, wholeRun } from '../src/testing/runs.ts';
import { clientsOf, moveSlot, onStage } from './redis-cluster-stage.ts';
import { ask, ownRedis } from './redis-stage.ts';

const patience = { timeout: 60_000, interval: 20 };

let cluster: TestRedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(async () => cluster.stop());

const urlOf = (master: number) => cluster.masters[master]?.url ?? '';

redisSuites('redis cluster', () => ({ urls: [urlOf(1), urlOf(2)], prefix: randomUUID() }), 'part');

describe('a server on a redis cluster', () => {
  test('has no more connections when 200 runs have been followed and ended', async () => {
    const { open } = onStage(cluster);
    const [writer, reader] = [await open(), await open()];
    const play = async (name: string) => {
      const runs = Array.from({ length: 100 }, (_, index) => `${name}-${index}`);
      const followed = runs.map(async (runId) => collect(reader.log.follow(runId)));
      await Promise.all(
        runs.map(async (runId) => writer.log.append(runId, eventsOf(runId, [start]))),
      );
      const most = (await clientsOf(cluster)).length;
      await Promise.all(
        runs.map(async (runId) => writer.log.append(runId, eventsOf(runId, [delta('a'), done], 1))),
      );
      for (const [index, events] of (await Promise.all(followed)).entries()) {
        expect(events).toStrictEqual(wholeRun(runs[index]!, ['a']));
      }
      return most;
    };
    // After the first round, the server has connections to every master.
    const before = await play('early').then(async () => {
      await expect.poll(async () => (await clientsOf(cluster)).length, patience).toBeLessThan(20);
      return (await clientsOf(cluster)).length;
    });
    expect(await play('late')).toBeGreaterThan(before + 50);
    await expect
      .poll(async () => (await clientsOf(cluster)).length, patience)
      .toBeLessThanOrEqual(before);
  });

  test('sends its user and password to every node', async () => {
    const { open, runsOn } = onStage(cluster);
    for (const node of cluster.masters) {
      await ask(node, 'ACL', 'SETUSER', 'liminal', 'on', '>se,cret', '~*', '&*', '+@all');
    }
    const [first, second] = cluster.masters.map(({ port }) => `liminal:se,cret@127.0.0.1:${port}`);
    const { log, coordination } = await open({ url: `redis://${first},redis://${second}` });
    await coordination.board.watch('', { onPost: () => {}, onGap: () => {} });
    const runs = [0, 1, 2].flatMap((master) => runsOn(master, 1));
    const followed = runs.map(async (runId) => collect(log.follow(runId)));
    for (const runId of runs) await log.append(runId, eventsOf(runId, [start]));
    const mine = async () =>
      (await clientsOf(cluster)).filter((client) => client.includes('user=liminal')).length;
    // For each node one connection for commands and one for the reader, and one connection for the board.
    await expect.poll(mine, patience).toBe(7);
    for (const runId of runs) await log.append(runId, eventsOf(runId, [done], 1));
    await Promise.all(followed);
    const wrong = open({ url: `redis://liminal:wrong@127.0.0.1:${cluster.masters[0]?.port}` });
    await expect(wrong).rejects.toMatchObject({ message: expect.stringContaining('WRONGPASS') });
  });

  test('gets advice about a database number, and about servers that are not a cluster', async () => {
    const { open } = onStage(cluster);
    await expect(open({ url: `${urlOf(0)}/3` })).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
      message: expect.stringContaining('leave the number out'),
    });
    const { redis } = await ownRedis();
    await expect(open({ url: `${redis.url},${urlOf(0)}` })).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
      message: expect.stringContaining('not a node of a Redis Cluster'),
    });
  });

  test('does not send a command again when a connection is cut', async () => {
    const { open, keys, masterOf } = onStage(cluster);
    const { inboxes } = (await open()).coordination;
    const heard: string[] = [];
    await inboxes.open('inbox', (message) => heard.push(message));
    const node = cluster.masters[masterOf(keys.inbox('inbox'))]!;
    // From now on, the node accepts commands but does not run them.
    await ask(node, 'CLIENT', 'PAUSE', '60000', 'WRITE');
    const answer = inboxes.send('inbox', 'never done').catch((error: unknown) => error);
    await expect
      .poll(async () => String(await ask(node, 'CLIENT', 'LIST')), patience)
      .toMatch(/flags=b .*cmd=evalsha/);
    await ask(node, 'CLIENT', 'KILL', 'TYPE', 'normal');
    await ask(node, 'CLIENT', 'UNPAUSE');
    expect(await answer).toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    expect(await inboxes.send('inbox', 'done')).toBe(true);
    await expect.poll(() => heard, patience).toEqual(['done']);
  });

  test('INV-6, INV-7: continues to write and read while a run moves to another node', async () => {
    const { open, runsOn, keys } = onStage(cluster);
    const { log, coordination } = await open();
    const [runId = ''] = runsOn(0, 1);
    const run = wholeRun(runId, ['a', 'b', 'c', 'd']);
    await log.append(runId, run.slice(0, 2));
    const followed = collect(log.follow(runId));
    const slot = calculateSlot(keys.events(runId));
    await moveSlot(cluster, slot, 0, 1, async () => log.append(runId, run.slice(2, 4)));
    await log.append(runId, run.slice(4));
    expect(await followed).toStrictEqual(run);
    expect(await log.read(runId)).toStrictEqual(run);
    expect(await coordination.leases.holders(['nobody'])).toEqual(new Map());
  });

  test('INV-1: leaves no gap in a run that is moved to a node without the run’s newest events', async () => {
    const { open, runsOn, keys } = onStage(cluster);
    const { log } = await open();
    const [runId = ''] = runsOn(2, 1);
    const run = wholeRun(runId, ['a', 'b', 'c', 'd']);
    for (const event of run.slice(0, 4)) await log.append(runId, [event]);
    // The slot moves without the newest events, as if a replica had taken over too early, but the writer's connection
    // stays.
    await moveSlot(cluster, calculateSlot(keys.events(runId)), 2, 0, async () => {});
    await ask(cluster.masters[0]!, 'XDEL', keys.events(runId), '0-3', '0-4');
    await expect(log.append(runId, run.slice(4, 5))).rejects.toMatchObject({
      code: 'SEQ_CONFLICT',
    });
    expect(await log.read(runId)).toStrictEqual(run.slice(0, 2));
  });

  test('stores a run in history even if the registry has lost its announcement', async () => {
    const { open, keys, masterOf } = onStage(cluster);
    const { log, coordination } = await open();
    await log.append('run-1', eventsOf('run-1', [start]));
    await ask(cluster.masters[masterOf(keys.runs)]!, 'DEL', keys.runs, keys.announced);
    expect(await log.unsettled()).toEqual([]);
    await log.append('run-1', eventsOf('run-1', [done], 1));
    const { signal } = new AbortController();
    for await (const claim of coordination.registry.claims('worker', signal)) {
      expect(claim.runId).toBe('run-1');
      break;
    }
  });
});
