import { DriverRegistry } from '@liminal/agents';
import { type ResponseStore, StorageError } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { createRuntime, type SessionsChange } from '../src/index.ts';
import { ScriptedAgent } from './scripted-agent.ts';

/** A runtime whose store cannot list sessions at some calls, and the runtime's warnings. */
async function startWith(isAway: (call: number) => boolean) {
  const storage = openMemoryStorage();
  let calls = 0;
  const listSessions: ResponseStore['listSessions'] = async (filter) => {
    calls += 1;
    if (isAway(calls)) throw new StorageError('STORE_READ_FAILED', 'The database is away.');
    return storage.store.listSessions(filter);
  };
  const store = new Proxy(storage.store, {
    get: (target, name) => {
      if (name === 'listSessions') return listSessions;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const drivers = new DriverRegistry();
  drivers.register(new ScriptedAgent());
  const told: object[] = [];
  const runtime = await createRuntime({
    storage: { log: storage.log, blobs: storage.blobs, store },
    drivers,
    roots: ['/'],
    logger: { info() {}, warn: (details) => told.push(details), error() {} },
  });
  return { runtime, told };
}

// The first two calls are regular: the sessions that an earlier server left, then Liminal's own sessions. Later calls
// list sessions for agents.

test('a database failure while an agent’s own sessions are listed is reported, and ends nothing', async () => {
  const { runtime, told } = await startWith((call) => call > 2);
  // An unhandled error would end the process.
  const stop = runtime.subscribeToSessionList(() => {});
  await expect.poll(() => told).toMatchObject([{ code: 'STORE_READ_FAILED' }]);
  stop();
  await runtime.close();
});

test('a list that cannot be read at first is sent as soon as it can be', async () => {
  const { runtime, told } = await startWith((call) => call === 2);
  const lists: SessionsChange[] = [];
  const stop = runtime.subscribeToSessionList((change) => lists.push(change));
  await expect.poll(() => lists[0]).toEqual({ sessions: [], removed: [] });
  expect(told).toMatchObject([{ code: 'STORE_READ_FAILED' }]);
  stop();
  await runtime.close();
});
