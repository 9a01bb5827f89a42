import { type RedisServer, startRedisCluster, type TestRedisCluster } from '@liminal/testkit';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { collect, delta, eventsOf, start, wholeRun } from '../src/testing/runs.ts';
import { type ClusterStage, onStage, ownCluster } from './redis-cluster-stage.ts';
import { ask, inBatches, write } from './redis-stage.ts';

const patience = { timeout: 60_000, interval: 20 };

let cluster: TestRedisCluster;
let stage: ClusterStage;
beforeAll(async () => {
  cluster = await startRedisCluster({ appendOnly: true });
});
beforeEach(() => {
  stage = onStage(cluster);
});
afterAll(async () => cluster.stop());

testAtLength(
  'INV-1, INV-6, INV-7: a master that is killed and restarted loses and duplicates nothing, and runs on other masters continue',
  async () => {
    const { open, keys, masterOf, runsOn } = stage;
    const [writer, reader] = [await open(), await open()];
    const home = masterOf(keys.runs);
    const victim = (home + 1) % 3;
    const runs = [0, 1, 2].flatMap((master) =>
      runsOn(master, 2).map((runId) => ({
        runId,
        master,
        events: wholeRun(runId, Array(atLength ? 1_500 : 600).fill('some text')),
      })),
    );
    const followed = runs.map(async ({ runId }) => collect(reader.log.follow(runId)));
    let begun = 0;
    const written = runs.map(async ({ runId, events }) => {
      await write(writer.log, runId, [events.slice(0, 3)]);
      begun += 1;
      // Runs on the other masters are still being written when the master dies.
      return write(writer.log, runId, inBatches(events.slice(3), 3));
    });
    await expect.poll(() => begun, patience).toBe(runs.length);
    await cluster.masters[victim]?.kill();
    const isHit = ({ master }: { master: number }) => master === victim;
    const others = runs.filter((run) => !isHit(run));
    for (const { runId, events } of others) {
      expect(await followed[runs.findIndex((run) => run.runId === runId)]).toStrictEqual(events);
    }
    await cluster.masters[victim]?.restart();
    const refusals = await Promise.all(written);
    expect(refusals.map((count, index) => count > 0 === isHit(runs[index]!))).not.toContain(false);
    for (const [index, { runId, events }] of runs.entries()) {
      expect(await writer.log.read(runId)).toStrictEqual(events);
      expect(await followed[index]).toStrictEqual(events);
    }
    await cluster.ready();
  },
);

testAtLength(
  'only keys of a silent master are refused, soon and with a sentence; its subscribers connect elsewhere',
  async () => {
    const { open, keys, masterOf, runsOn } = stage;
    const { log, coordination } = await open();
    const told: string[] = [];
    await coordination.board.watch('', { onPost: () => {}, onGap: () => told.push('gap') });
    const silent = await subscribedTo(cluster);
    const [near = '', far = ''] = [...runsOn((silent + 1) % 3, 1), ...runsOn(silent, 1)];
    const names = Array.from({ length: 30 }, (_, index) => `session-${index}`);
    const session = names.find((name) => masterOf(keys.lease(name)) !== silent)!;
    await log.append(near, eventsOf(near, [start]));
    await log.append(far, eventsOf(far, [start]));
    cluster.masters[silent]?.pause();
    try {
      for (const text of ['a', 'b']) {
        const began = performance.now();
        await expect(log.append(far, eventsOf(far, [delta(text)], 1))).rejects.toMatchObject({
          code: 'LOG_WRITE_FAILED',
          message: expect.stringContaining('Check that Redis runs'),
        });
        expect(performance.now() - began).toBeLessThan(10_000);
        await log.append(near, eventsOf(near, [delta(text)], text === 'a' ? 1 : 2));
      }
      expect(await coordination.leases.acquire(session, 'server', 1_000)).toBeDefined();
      await expect.poll(() => told, patience).toEqual(['gap']);
    } finally {
      cluster.masters[silent]?.resume();
    }
    await cluster.ready();
    await write(log, far, [eventsOf(far, [delta('a'), delta('b')], 1)]);
    expect(await log.read(far)).toStrictEqual(eventsOf(far, [start, delta('a'), delta('b')]));
  },
);

testAtLength(
  'a subscriber of the board gets a gap when its node dies, and gets later postings',
  async () => {
    const { open, keys, masterOf } = stage;
    const [near, far] = [await open(), await open()];
    const told: string[] = [];
    await near.coordination.board.watch('', {
      onPost: (name, text) => told.push(`${name}=${text}`),
      onGap: () => told.push('gap'),
    });
    const victim = await subscribedTo(cluster);
    const names = Array.from({ length: 30 }, (_, index) => `name-${index}`);
    const alive = names.filter((name) => masterOf(keys.posting(name)) !== victim);
    await cluster.masters[victim]?.kill();
    await expect.poll(() => told, patience).toEqual(['gap']);
    // Postings must arrive in the order in which they were posted, also several under one name.
    const posts = [...alive, ...alive].map((name, index) => [name, `text-${index}`] as const);
    await Promise.all(
      posts.map(async ([name, text]) => far.coordination.board.post(name, text, 60_000)),
    );
    await expect.poll(() => told.length, patience).toBe(1 + posts.length);
    for (const one of alive) {
      expect(told.filter((each) => each.startsWith(`${one}=`))).toEqual(
        posts.filter(([name]) => name === one).map(([name, text]) => `${name}=${text}`),
      );
    }
    await cluster.masters[victim]?.restart();
    await cluster.ready();
  },
);

testAtLength(
  'a configured node may be gone, at the start and when the server must find the other nodes again',
  async () => {
    const [first, second] = cluster.masters.map(({ url }) => url);
    const [runId = ''] = stage.runsOn(1, 1);
    const knows = await stage.open({ url: `${first}` });
    await Promise.all(cluster.masters.map(async (master) => master.kill()));
    await expect(knows.log.read(runId)).rejects.toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    await cluster.masters[1]?.restart();
    await cluster.masters[2]?.restart();
    await expect
      .poll(async () => knows.log.read(runId).then(Boolean, () => false), patience)
      .toBe(true);
    const { log } = await stage.open({ url: `${first},${second}` });
    expect(await log.read(runId)).toEqual([]);
    await expect(stage.open({ url: `${first}` })).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await cluster.masters[0]?.restart();
    await cluster.ready();
  },
);

test(
  'INV-1, INV-7: a replica takes over: its runs continue to be written and read, and new runs begin',
  { timeout: 120_000 },
  async () => {
    const { cluster: own, open, runsOn, keys, masterOf } = await ownCluster({ hasReplicas: true });
    const [writer, reader] = [await open(), await open()];
    const home = masterOf(keys.runs);
    const [before = '', after = ''] = runsOn(home, 2);
    const run = wholeRun(before, Array(200).fill('text'));
    const followed = collect(reader.log.follow(before));
    await write(writer.log, before, inBatches(run.slice(0, 100), 7));
    const master = own.masters[home]!;
    // Redis replicates only after it has answered, and this test needs the acknowledged events on the replica.
    const written = await offsetOf(master);
    await expect
      .poll(async () => offsetOf(own.replicas[home]!), patience)
      .toBeGreaterThanOrEqual(written);
    await master.kill();
    await write(writer.log, before, inBatches(run.slice(100), 7));
    expect(await followed).toStrictEqual(run);
    expect(await writer.log.read(before)).toStrictEqual(run);
    await write(writer.log, after, [wholeRun(after, ['a'])]);
    expect(await collect(reader.log.follow(after))).toStrictEqual(wholeRun(after, ['a']));
  },
);

/** The index of the master to which a subscription is connected. */
async function subscribedTo({ masters }: TestRedisCluster): Promise<number> {
  const lists = await Promise.all(
    masters.map(async (node) => ask(node, 'CLIENT', 'LIST', 'TYPE', 'pubsub')),
  );
  return lists.findIndex((list) => list !== '');
}

/** A node’s replication offset. */
async function offsetOf(node: RedisServer): Promise<number> {
  const said = String(await ask(node, 'INFO', 'replication'));
  return Number(/(?:slave|master)_repl_offset:(\d+)/.exec(said)?.[1]);
}
