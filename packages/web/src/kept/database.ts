// idb gives IndexedDB promises, and little else. localStorage would do for drafts, but not for long messages: it holds
// some five million characters in all, and a message can have one million.
import type { UnsentMessage } from '@liminal/client';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';

export interface Draft {
  /** A session's id, or what else is being written. */
  key: string;
  text: string;
  /** ms since the epoch; the newer one counts. */
  at: number;
}

interface Kept extends DBSchema {
  outbox: { key: string; value: UnsentMessage };
  drafts: { key: string; value: Draft };
}

let opened: Promise<IDBPDatabase<Kept>> | undefined;

/** What this browser keeps of what was typed: it outlives page, browser and server. Rejects where nothing can be kept. */
export function database(): Promise<IDBPDatabase<Kept>> {
  opened ??= openDB<Kept>('liminal', 1, {
    upgrade: (made) => {
      made.createObjectStore('outbox', { keyPath: 'turnId' });
      made.createObjectStore('drafts', { keyPath: 'key' });
    },
    // A newer page wants to change it: it must not wait for this one.
    blocking: (_, __, event) => (event.target as IDBDatabase).close(),
  });
  return opened;
}
