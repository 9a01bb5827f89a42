import { byPrompt, reply, testRedis, text, toolUse } from '@liminal/testkit';
import { atLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { Cluster, LEASE_MS, type Member } from './cluster.ts';
import { LiminalServer } from '../e2e/server.ts';
import { redisCluster } from './redis-cluster.ts';
import { tlsRedis } from './tls-redis.ts';

const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');

/** What runs on a cluster fails over in every run: `failover.test.ts`. */
const kinds = [
  { redis: 'one Redis', start: testRedis },
  { redis: 'a Redis Cluster', start: redisCluster },
];

test.each(atLength ? kinds : kinds.slice(0, 1))(
  'INV-7 a session made on one server, sent to on a second, is watched on a third, which gives its agent a permission: on $redis',
  async ({ start }) => {
    const script = byPrompt({
      'Talk.': [reply(text(words, { chunk: 12, delayMs: 4 }))],
      'Write it.': [
        reply(toolUse('Bash', { command: 'echo fresh > new.txt' }, { id: 'toolu_bash' })),
        reply('It is written.'),
      ],
    });
    const cluster = await Cluster.start({ servers: 3, script, redis: await start() });
    const [a, b, c] = cluster.members;
    const sessionId = await cluster.create(a!);
    const reader = await c!.follow(sessionId);
    const { turnId } = await b!.requests.send(sessionId, 'Talk.');
    await reader.until(() => reader.said(turnId).length > 100);
    expect(await a!.requests.status(sessionId)).toMatchObject({ state: 'running', isAlive: true });
    expect(await b!.requests.status(sessionId)).toMatchObject({ state: 'running', isAlive: true });
    const run = c!.client.run(turnId);
    expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });
    expect(reader.said(turnId)).toBe(words);
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
    expect(reader.said(asking.turnId)).toBe('It is written.');
  },
);

test('a server reaches a Redis through TLS whose authority it is told of, and says what is wrong with one that it does not know', async () => {
  const redis = await tlsRedis();
  const env = { NODE_EXTRA_CA_CERTS: redis.authority };
  const cluster = await Cluster.start({ servers: 1, redis, env });
  const [{ requests, follow }] = cluster.members as [Member];
  const demo = { cliType: 'demo', projectDir: cluster.project };
  const { sessionId } = await requests.createSession(demo);
  const reader = await follow(sessionId);
  const { turnId } = await requests.send(sessionId, 'hello');
  expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });

  const strangers = { ...cluster.env, NODE_EXTRA_CA_CERTS: '' };
  const refused = await LiminalServer.start({ dataDir: cluster.dataDir, env: strangers }).catch(
    String,
  );
  expect(refused).toMatch(/certificate.*NODE_EXTRA_CA_CERTS/s);
});

test('INV-2 INV-8 a server killed in mid-turn: those who watch see it lost in time, the next send elsewhere works, no process is left', async () => {
  const script = byPrompt({
    'Talk.': [reply(text(words, { chunk: 12, delayMs: 20 }))],
    'Go on.': [reply('Here I am.')],
  });
  const cluster = await Cluster.start({ servers: 2, script });
  const [a, b] = cluster.members;
  const sessionId = await cluster.create(a!);
  const reader = await b!.follow(sessionId);
  const { turnId } = await a!.requests.send(sessionId, 'Talk.');
  await reader.until(() => reader.said(turnId).length > 200);
  const agents = cluster.census.withCommand(sessionId).map(({ pid }) => pid);
  expect(agents).not.toEqual([]);

  const seen = reader.said(turnId);
  const killedAt = performance.now();
  await a!.server.crash();
  expect(await reader.ended(turnId)).toMatchObject({
    status: 'error',
    error: { code: 'OWNER_LOST' },
  });
  expect(performance.now() - killedAt).toBeLessThan(LEASE_MS);
  expect(reader.ends(turnId)).toEqual(['turn_error']);
  expect(reader.said(turnId).startsWith(seen)).toBe(true);
  await expect
    .poll(() => cluster.census.withCommand(sessionId).filter(({ pid }) => agents.includes(pid)))
    .toEqual([]);

  const next = await b!.requests.send(sessionId, 'Go on.');
  expect(await reader.ended(next.turnId)).toMatchObject({ status: 'complete' });
  expect(reader.said(next.turnId)).toBe('Here I am.');
  const { turns } = await b!.requests.history(sessionId);
  expect(turns.map((turn) => [turn.turnId, turn.status])).toEqual([
    [turnId, 'error'],
    [next.turnId, 'complete'],
  ]);
});
