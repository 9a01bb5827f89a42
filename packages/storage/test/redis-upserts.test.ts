import { testRedis } from '@liminal/testkit';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { openRedis } from '../src/redis/index.ts';

test('FR-003-02: a turn’s published upserts can be read by any Redis client, and expire', async () => {
  const server = await testRedis();
  const prefix = server.newPrefix();
  const { coordination, close } = await openRedis({ url: server.url, prefix });
  const reader = new Redis(server.url);
  const key = `${prefix}:turn:turn-1:upserts`;
  onTestFinished(async () => {
    await reader.del(key);
    reader.disconnect();
    await close();
    await server.release();
  });
  const message = {
    eventId: '00000000-0000-8000-8000-000000000001',
    timestamp: 1_700_000_000_000,
    turnId: 'turn-1',
    payloadType: 'item_upsert',
    payload: JSON.stringify({ type: 'message', content: 'Grüße 🌍' }),
  } as const;

  await coordination.upserts.publish(message);
  await coordination.upserts.publish({ ...message, payloadType: 'turn_event' });

  const read = await reader.xread('STREAMS', key, '0');
  const told = read?.[0]?.[1].map(([, fields]) => fields) ?? [];
  expect(told[0]).toEqual(Object.entries(message).flat().map(String));
  expect(told.map((fields) => fields[7])).toEqual(['item_upsert', 'turn_event']);
  expect(await reader.pttl(key)).toBeGreaterThan(0);
});
