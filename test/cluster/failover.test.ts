import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@liminal/client';
import { byPrompt, reply, startRedis, type TestRedis, text } from '@liminal/testkit';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { Cluster } from './cluster.ts';
import { redisCluster } from './redis-cluster.ts';

const words = Array.from({ length: 700 }, (_, index) => `word${index}`).join(' ');

const isLost = ['error', 'OWNER_LOST'];
/** The data that the replica is certain to lack when the master dies. */
const lost = [
  {
    what: 'the events of a turn',
    key: (_: string, turnId: string) => `run:${turnId}:events`,
    ends: [isLost],
  },
  {
    what: 'the lease of a session',
    key: (sessionId: string) => `lease:session:${sessionId}`,
    ends: [isLost],
  },
  { what: 'the registry of runs', key: () => 'runs', ends: [['complete', undefined], isLost] },
];

test.each(atLength ? lost : lost.slice(0, 1))(
  'INV-2, INV-7: if the replica that takes over lacks $what, the turn ends in the same way for all readers, with everything that any reader saw, and the next message works',
  { timeout: 300_000 },
  async ({ key, ends }) => {
    const redis = await redisCluster({ hasReplicas: true });
    await redis.detachReplicas();
    const end = await loseAndGoOn(redis, async (sessionId, turnId) =>
      redis.killMasterOf(`${redis.prefix}:${key(sessionId, turnId)}`),
    );
    expect(ends).toContainEqual(end);
  },
);

testAtLength(
  'INV-2, INV-7: if Redis restarts empty, the turn ends in the same way for all readers, with everything that any reader saw, and the next message works',
  { timeout: 300_000 },
  async () => {
    const server = await startRedis();
    const { url, stop } = server;
    const redis = { url, newPrefix: randomUUID, release: stop };
    const end = await loseAndGoOn(redis, async () => {
      await server.kill();
      await server.restart();
    });
    expect(end).toEqual(isLost);
  },
);

/** Plays a turn during which Redis loses data, and then another turn. Returns the end of the first turn. */
async function loseAndGoOn(
  redis: TestRedis,
  lose: (sessionId: string, turnId: string) => Promise<void>,
): Promise<[status: string | undefined, code: string | undefined]> {
  const script = byPrompt({
    'Talk.': [reply(text(words, { chunk: 12, delayMs: 20 }))],
    'Go on.': [reply('Here I am.')],
  });
  const cluster = await Cluster.start({ servers: 2, script, redis });
  const [a, b] = cluster.members;
  const sessionId = await cluster.create(a!);
  const readers = await Promise.all(cluster.members.map(({ follow }) => follow(sessionId)));
  const { turnId } = await a!.requests.send(sessionId, 'Talk.');
  await Promise.all(
    readers.map((reader) => reader.until(() => reader.agentText(turnId).length > 200)),
  );
  await lose(sessionId, turnId);

  const seen = readers.map((reader) => reader.agentText(turnId));
  const [last, other] = await Promise.all(readers.map((reader) => reader.ended(turnId)));
  const said = readers[0]!.agentText(turnId);
  expect([other?.status, readers[1]!.agentText(turnId)]).toEqual([last?.status, said]);
  expect(said).toBe(last?.status === 'complete' ? words : words.slice(0, said.length));
  expect(seen.every((part) => said.startsWith(part))).toBe(true);
  const next = await whenReached(async () => b!.requests.send(sessionId, 'Go on.'));
  for (const reader of readers) {
    expect(await reader.ended(next.turnId)).toMatchObject({ status: 'complete' });
    expect(reader.agentText(next.turnId)).toBe('Here I am.');
  }
  for (const { requests } of cluster.members) {
    const { turns, entries } = await requests.history(sessionId);
    expect(turns.map((turn) => [turn.turnId, turn.status])).toEqual([
      [turnId, last?.status],
      [next.turnId, 'complete'],
    ]);
    expect(entries[1]).toMatchObject({ content: said });
  }
  return [last?.status, last?.error?.code];
}

/** Retries while a server has not found the new master yet. Until then the server runs no request. */
async function whenReached<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'REDIS_UNAVAILABLE') throw error;
      await delay(100);
    }
  }
}
