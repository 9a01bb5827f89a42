import type { OutboxStorage } from '@liminal/client';
import { database } from './database.ts';

const name = 'liminal.outbox';

/** Stores unsent messages in the browser, shared by all its pages. */
export function browserOutbox(): OutboxStorage {
  const others = new BroadcastChannel(name);
  const notifyOthers = () => others.postMessage('changed');
  return {
    load: async () => (await database()).getAll('outbox'),
    put: async (message) => {
      await (await database()).put('outbox', message);
      notifyOthers();
    },
    remove: async (turnId) => {
      await (await database()).delete('outbox', turnId);
      notifyOthers();
    },
    onChange: (listener) => others.addEventListener('message', listener),
    withLock: (sessionId, work) => {
      // A page that was loaded over plain HTTP from another machine has no locks; two pages may then send the same
      // message, and the server accepts it once.
      const locks = navigator.locks as LockManager | undefined;
      return locks === undefined ? work() : locks.request(`${name}.${sessionId}`, work);
    },
  };
}
