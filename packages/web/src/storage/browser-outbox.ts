import type { OutboxStorage } from '@liminal/client';
import { database } from './database.ts';

const name = 'liminal.outbox';

/** Stores unsent messages in the browser. All pages of the browser share them. */
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
      // A page that was loaded from another machine over plain HTTP has no locks. Two pages may then send the same
      // message, but the server accepts it only once.
      const locks = navigator.locks as LockManager | undefined;
      return locks === undefined ? work() : locks.request(`${name}.${sessionId}`, work);
    },
  };
}
