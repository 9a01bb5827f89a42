import { testRedis, type TestRedis } from '@liminal/testkit';
import { afterAll, beforeAll, describe } from 'vitest';
import { eventLogSuite } from '../testing/index.ts';
import { openRedis } from './open.ts';

let server: TestRedis;
beforeAll(async () => {
  server = await testRedis();
});
afterAll(async () => server.release());

describe('redis event log', () => {
  eventLogSuite(async () => {
    const options = { url: server.url, prefix: server.newPrefix() };
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
