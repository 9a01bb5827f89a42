import { gate, reply, startRedis, text } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Cluster } from './cluster.ts';

test.each(['killed', 'frozen'] as const)(
  'if the Redis of a server is %s, the server stops when asked, even while a turn runs',
  async (fault) => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const cluster = await Cluster.start({
      servers: 1,
      script: [reply(text(['Here I am.', gate(), ' No more.']))],
      redis: { url: redis.url, newPrefix: () => 'ended', release: async () => {} },
    });
    const [member] = cluster.members;
    const sessionId = await cluster.create(member!);
    const reader = await member!.follow(sessionId);
    const { turnId } = await member!.requests.send(sessionId, 'Hello');
    await reader.until((seen) => seen.agentText(turnId) === 'Here I am.');

    if (fault === 'killed') await redis.kill();
    else redis.pause();
    await expect.poll(() => member!.server.log, { timeout: 60_000 }).toContain('REDIS_UNAVAILABLE');

    expect(await member!.server.stop()).toBe(0);
    if (fault === 'frozen') redis.resume();
  },
);
