import { ProviderRegistry } from '@liminal/agents';
import { type ResponseStore, StorageError } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { createRuntime } from '../src/index.ts';
import { ScriptedAgent } from './scripted-agent.ts';

test('a database that goes away while an agent’s own sessions are listed is reported, and ends nothing', async () => {
  const storage = openMemoryStorage();
  let lists = 0;
  const listSessions: ResponseStore['listSessions'] = async (filter) => {
    lists += 1;
    // The first two calls: what an earlier server left, then our own.
    if (lists > 2) throw new StorageError('STORE_READ_FAILED', 'The database is away.');
    return storage.store.listSessions(filter);
  };
  const store = new Proxy(storage.store, {
    get: (target, name) => {
      if (name === 'listSessions') return listSessions;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const providers = new ProviderRegistry();
  providers.register(new ScriptedAgent());
  const told: object[] = [];
  const runtime = await createRuntime({
    storage: { log: storage.log, blobs: storage.blobs, store },
    providers,
    roots: ['/'],
    logger: { info() {}, warn: (details) => told.push(details), error() {} },
  });
  // An unhandled error would end the process.
  const stop = runtime.watchSessions(() => {});
  await expect.poll(() => told).toMatchObject([{ code: 'STORE_READ_FAILED' }]);
  stop();
  await runtime.close();
});
