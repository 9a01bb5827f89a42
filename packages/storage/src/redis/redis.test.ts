import { testRedis, type TestRedis } from '@liminal/testkit';
import { afterAll, beforeAll } from 'vitest';
import { redisSuites } from '../testing/redis-suites.ts';

let server: TestRedis;
beforeAll(async () => {
  server = await testRedis();
});
afterAll(async () => server.release());

redisSuites('redis', () => ({ urls: [server.url, server.url], prefix: server.newPrefix() }));
