import { testRedis, type TestRedis } from '@liminal/testkit';
import { afterAll, beforeAll, describe } from 'vitest';
import { coordinationSuite, eventLogSuite } from '../testing/index.ts';
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

describe('redis coordination', () => {
  coordinationSuite(async () => {
    const options = { url: server.url, prefix: server.newPrefix() };
    const [one, two] = [await openRedis(options), await openRedis(options)];
    return {
      subject: { one, two },
      teardown: async () => {
        await one.close();
        await two.close();
      },
    };
  });
});
