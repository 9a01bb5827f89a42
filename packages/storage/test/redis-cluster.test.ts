import { startRedisCluster, type TestRedisCluster } from '@liminal/testkit';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { openRedis } from '../src/index.ts';
import { coordinationSuite, eventLogSuite } from '../src/testing/index.ts';

let cluster: TestRedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(async () => cluster.stop());

const urlOf = (master: number) => cluster.masters[master]?.url ?? '';

describe('redis cluster event log', () => {
  eventLogSuite(async () => {
    const options = { url: urlOf(0), prefix: randomUUID() };
    let redis = await openRedis(options);
    return {
      subject: redis.log,
      reopen: async () => {
        await redis.close();
        redis = await openRedis(options);
        return redis.log;
      },
      teardown: async () => redis.close(),
    };
  });
});

describe('redis cluster coordination', () => {
  coordinationSuite(async () => {
    const prefix = randomUUID();
    const [one, two] = [
      await openRedis({ url: urlOf(1), prefix }),
      await openRedis({ url: urlOf(2), prefix }),
    ];
    return {
      subject: { one, two },
      teardown: async () => {
        await one.close();
        await two.close();
      },
    };
  });
});
