import { byPrompt, gate, reply, type TestRedis, testRedis, text, toolUse } from '@liminal/testkit';
import { atLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { Cluster } from './cluster.ts';
import { LiminalServer } from '../e2e/server.ts';
import { redisCluster } from './redis-cluster.ts';
import { tlsRedis } from './tls-redis.ts';

const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');

interface Kind {
  redis: string;
  start: () => Promise<{ redis: TestRedis; env?: Record<string, string> }>;
  /** A further check that only this kind of Redis needs. */
  check?: (cluster: Cluster) => Promise<void>;
}

/**
 * The kinds of Redis. Short runs test only the first kind: `failover.test.ts` tests a Redis Cluster in every test run,
 * and all other tests use a single Redis.
 */
const kinds: Kind[] = [
  {
    redis: 'a Redis through TLS, whose authority the servers must be given',
    start: async () => {
      const redis = await tlsRedis();
      return { redis, env: { NODE_EXTRA_CA_CERTS: redis.authority } };
    },
    check: async (cluster) => {
      const strangers = { ...cluster.env, NODE_EXTRA_CA_CERTS: '' };
      const { dataDir } = cluster;
      const refused = await LiminalServer.start({ dataDir, env: strangers }).catch(String);
      expect(refused).toMatch(/certificate.*NODE_EXTRA_CA_CERTS/s);
    },
  },
  { redis: 'one Redis', start: async () => ({ redis: await testRedis() }) },
  { redis: 'a Redis Cluster', start: async () => ({ redis: await redisCluster() }) },
];

test.each(atLength ? kinds : kinds.slice(0, 1))(
  'INV-7 a session created on one server gets a message on a second server, and a permission on a third server that watches it; INV-2 INV-8 if the session’s server is killed during a turn, readers get the end of the lost turn in time, the next message on another server works, and no process is left: on $redis',
  async ({ start, check }) => {
    const rest = gate();
    const script = byPrompt({
      'Talk.': [
        reply(text([words.slice(0, 1_500), rest, words.slice(1_500)], { chunk: 12, delayMs: 4 })),
      ],
      'Write it.': [
        reply(toolUse('Bash', { command: 'echo fresh > new.txt' }, { id: 'toolu_bash' })),
        reply('It is written.'),
      ],
      'Talk slowly.': [reply(text([words, gate()], { chunk: 12, delayMs: 20 }))],
      'Go on.': [reply('Here I am.')],
    });
    const cluster = await Cluster.start({ servers: 3, script, ...(await start()) });
    const [a, b, c] = cluster.members;
    const sessionId = await cluster.create(a!);
    const reader = await c!.follow(sessionId);
    const { turnId } = await b!.requests.send(sessionId, 'Talk.');
    await reader.until(() => reader.agentText(turnId).length > 100);
    expect(await a!.requests.status(sessionId)).toMatchObject({ state: 'running', isAlive: true });
    expect(await b!.requests.status(sessionId)).toMatchObject({ state: 'running', isAlive: true });
    const run = c!.client.run(turnId);
    rest.open();
    expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });
    expect(reader.agentText(turnId)).toBe(words);
    await expect.poll(() => run.getSnapshot().phase).toBe('ended');
    expect(run.getSnapshot().entries.at(-1)).toMatchObject({ content: words, status: 'complete' });
    expect(run.getSnapshot().response).toEqual(await b!.requests.getRun(turnId));
    for (const { requests } of cluster.members) {
      const { entries } = await requests.history(sessionId);
      expect(entries.at(-1)).toMatchObject({ content: words, status: 'complete' });
      await expect.poll(async () => (await requests.status(sessionId)).state).toBe('idle');
    }

    const asking = await b!.requests.send(sessionId, 'Write it.');
    const { approvalId, options } = await reader.approval(asking.turnId);
    const allow = options.find(({ kind }) => kind === 'allow_once');
    await c!.requests.answerApproval(sessionId, approvalId, { optionId: allow!.optionId });
    expect(await reader.ended(asking.turnId)).toMatchObject({ status: 'complete' });
    expect(reader.agentText(asking.turnId)).toBe('It is written.');

    await loseOwner(cluster, sessionId);
    await check?.(cluster);
  },
);

/** Kills the server that runs a session's agent during a turn. */
async function loseOwner(cluster: Cluster, sessionId: string): Promise<void> {
  const { members, census } = cluster;
  const agents = census.withCommand(sessionId);
  const owner = members.find(({ server }) => agents.some(({ parent }) => parent === server.pid))!;
  const other = members.find((member) => member !== owner)!;
  const reader = await other.follow(sessionId);
  const before = reader.turns.map((turn) => [turn.turnId, 'complete']);
  const { turnId } = await owner.requests.send(sessionId, 'Talk slowly.');
  await reader.until(() => reader.agentText(turnId).length > 200);

  const seen = reader.agentText(turnId);
  await owner.server.crash();
  expect(await reader.ended(turnId)).toMatchObject({
    status: 'error',
    error: { code: 'OWNER_LOST' },
  });
  expect(reader.ends(turnId)).toEqual(['turn_error']);
  expect(reader.agentText(turnId).startsWith(seen)).toBe(true);
  const pids = agents.map(({ pid }) => pid);
  expect(pids).not.toEqual([]);
  await expect
    .poll(() => census.withCommand(sessionId).filter(({ pid }) => pids.includes(pid)))
    .toEqual([]);

  const next = await other.requests.send(sessionId, 'Go on.');
  expect(await reader.ended(next.turnId)).toMatchObject({ status: 'complete' });
  expect(reader.agentText(next.turnId)).toBe('Here I am.');
  const { turns } = await other.requests.history(sessionId);
  expect(turns.map((turn) => [turn.turnId, turn.status])).toEqual([
    ...before,
    [turnId, 'error'],
    [next.turnId, 'complete'],
  ]);
}
