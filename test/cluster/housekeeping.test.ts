import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { byPrompt, gate, postgresRows, reply, testRedis, text } from '@liminal/testkit';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { Cluster } from './cluster.ts';

/** A word that occurs only in the model's text. */
const secret = 'xylophone';
const words = Array.from({ length: 400 }, (_, index) => `${secret}${index}`).join(' ');

test('INV-8 if one server deletes a session while another server runs it, its data disappears for everyone: from PostgreSQL at once, from Redis within a minute', async () => {
  const script = byPrompt({ 'Talk.': [reply(text([words, gate()], { chunk: 12, delayMs: 10 }))] });
  const shared = await testRedis();
  let prefix = '';
  const redis = { ...shared, newPrefix: () => (prefix = shared.newPrefix()) };
  const cluster = await Cluster.start({ servers: 2, script, redis });
  const [a, b] = cluster.members;
  const sessionId = await cluster.create(a!);
  const readers = await Promise.all([a!.follow(sessionId), b!.follow(sessionId)]);
  const { turnId } = await b!.requests.send(sessionId, 'Talk.');
  await b!.requests.send(sessionId, `Then say ${secret}.`);
  await readers[1].until((reader) => reader.agentText(turnId).includes(`${secret}99`));
  expect(cluster.census.withCommand(sessionId)).not.toEqual([]);
  const { url } = redis;
  expect(await lifetimesInRedis(url, prefix)).toContain(-1);

  await b!.requests.deleteSession(sessionId);
  for (const reader of readers) {
    await reader.until(({ messages }) => messages.at(-1)?.type === 'session:deleted');
  }
  expect(cluster.census.withCommand(sessionId)).toEqual([]);
  const longest = async () => {
    const lifetimes = await lifetimesInRedis(url, prefix);
    return lifetimes.includes(-1) ? Infinity : Math.max(0, ...lifetimes);
  };
  await expect.poll(longest).toBeLessThanOrEqual(60_000);
  const schema = await schemaOf(cluster);
  const database = cluster.env['LIMINAL_DATABASE_URL'] ?? '';
  const left = await postgresRows(database, schema);
  expect(left.filter((row) => row.includes(secret))).toEqual([]);
  expect(left.filter((row) => row.includes(sessionId))).toEqual([
    JSON.stringify(['deleted_sessions', { session_id: sessionId }]),
  ]);
  for (const { server } of cluster.members) await server.crash();
  for (const { server } of cluster.members) await server.restart();
  for (const { requests } of cluster.members) {
    expect(await requests.listProjects()).toEqual([]);
    await requests.deleteSession(sessionId);
    for (const ask of [
      () => requests.loadSession(sessionId),
      () => requests.send(sessionId, 'Hello?'),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
    await expect(requests.getRun(turnId)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  }
  expect(await longest()).toBeLessThanOrEqual(60_000);
});

async function schemaOf({ dataDir }: Cluster): Promise<string> {
  const config = JSON.parse(await readFile(join(dataDir, 'liminal.json'), 'utf8')) as {
    databaseSchema: string;
  };
  return config.databaseSchema;
}

/** Returns how long each key that contains the secret will exist, in ms; -1 for a key without an expiry. */
async function lifetimesInRedis(url: string, prefix: string): Promise<number[]> {
  const redis = new Redis(url);
  try {
    const lifetimes: number[] = [];
    for (const key of await redis.keys(`${prefix}*`)) {
      const type = await redis.type(key);
      const read = {
        string: async () => redis.get(key),
        hash: async () => redis.hgetall(key),
        stream: async () => redis.xrange(key, '-', '+'),
        list: async () => redis.lrange(key, 0, -1),
        set: async () => redis.smembers(key),
        zset: async () => redis.zrange(key, 0, -1),
      }[type];
      if (read === undefined && type !== 'none') throw new Error(`${key} is a ${type}.`);
      const value = JSON.stringify(await read?.());
      // The key may have expired in the meantime.
      if (value?.includes(secret)) lifetimes.push(await redis.pttl(key));
    }
    return lifetimes.filter((ms) => ms !== -2);
  } finally {
    redis.disconnect();
  }
}
