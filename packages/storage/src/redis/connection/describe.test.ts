import { testRedis } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { describeRedis, reportOn } from './describe.ts';

const info = (facts: Record<string, string>) =>
  ['# Server', ...Object.entries(facts).map(([name, value]) => `${name}:${value}`), ''].join(
    '\r\n',
  );

test('a Redis without persistence is reported as the only problem', async () => {
  const server = await testRedis();
  const { title, troubles } = await describeRedis(server.url);
  await server.release();
  expect(title).toMatch(/^(Redis|Valkey) \d+\.\d+/);
  expect(troubles).toEqual([expect.stringContaining('set appendonly to yes')]);
});

test.each([
  [{ redis_version: '7.0.15', aof_enabled: '1', maxmemory_policy: 'noeviction' }, []],
  [{ redis_version: '6.2.0', aof_enabled: '1' }, []],
  [{ redis_version: '6.0.16', aof_enabled: '1' }, [expect.stringContaining('too old')]],
  [{ redis_version: '10.0.0', aof_enabled: '1' }, []],
  [
    { redis_version: '8.0.2', aof_enabled: '1', maxmemory_policy: 'allkeys-lru' },
    [expect.stringContaining('noeviction')],
  ],
])('the settings %j are reported', (facts, troubles) => {
  expect(reportOn(info(facts)).troubles).toEqual(troubles);
});

test('Valkey has its own name', () => {
  const facts = { redis_version: '7.2.4', server_name: 'valkey', valkey_version: '8.0.1' };
  expect(reportOn(info({ ...facts, aof_enabled: '1' }))).toEqual({
    title: 'Valkey 8.0.1',
    troubles: [],
  });
});
