import { expect, test } from 'vitest';
import { StorageError } from '../../errors.ts';
import { Keys, type RedisLink, scripts } from '../connection/index.ts';
import type { StreamReader } from '../streams/index.ts';
import { RedisInboxes } from './inboxes.ts';

test('an inbox opens again soon after Redis serves its reader, even if commands still fail for a while', async () => {
  const failures = [new StorageError('REDIS_UNAVAILABLE', 'Redis is away.')];
  let kept = 0;
  const link: Partial<RedisLink> = {
    run: async (script) => {
      if (script !== scripts.keepInbox) return '0-0';
      const failure = failures.pop();
      if (failure) throw failure;
      kept += 1;
      return 1;
    },
  };
  let reading: Parameters<StreamReader['watch']>[2] | undefined;
  const reader: Partial<StreamReader> = {
    watch: (_key, _after, listener) => {
      reading = listener;
      return () => undefined;
    },
  };
  const keys = new Keys('test');
  const inboxes = new RedisInboxes(link as RedisLink, keys, reader as StreamReader);
  await inboxes.open('server-1', () => undefined);
  reading?.onReconnect?.();
  await expect.poll(() => kept, { timeout: 2_000 }).toBe(1);
  expect(failures).toEqual([]);
  await inboxes.close();
});
