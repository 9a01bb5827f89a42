// idb adds promises to IndexedDB and does little else. localStorage is large enough for drafts, but not for long
// messages: its limit is about five million characters in total, and one message can have a million.
import type { UnsentMessage } from '@liminal/client';
import type { ContentBlock } from '@liminal/protocol';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';

export interface Draft {
  /** The id of a session, or the key of another draft. */
  key: string;
  text: string;
  /** The draft's attachments. */
  blocks?: readonly ContentBlock[] | undefined;
  /** The time at which the draft was changed, in ms since the epoch. The newer draft replaces the older. */
  at: number;
}

/** A file of a draft or an unsent message. */
export interface StoredFile {
  bytes: Blob;
  /** The time in ms since the epoch. */
  at: number;
}

interface BrowserSchema extends DBSchema {
  outbox: { key: string; value: UnsentMessage };
  drafts: { key: string; value: Draft };
  /** The files by their local names. */
  files: { key: string; value: StoredFile };
}

let connection: Promise<IDBPDatabase<BrowserSchema>> | undefined;

/**
 * Resolves with this browser's database of drafts, unsent messages and their files. The database survives restarts of
 * the page, the browser and the server. Rejects if nothing can be stored.
 */
export function database(): Promise<IDBPDatabase<BrowserSchema>> {
  connection ??= openDB<BrowserSchema>('liminal', 2, {
    upgrade: (made, version) => {
      if (version < 1) {
        made.createObjectStore('outbox', { keyPath: 'turnId' });
        made.createObjectStore('drafts', { keyPath: 'key' });
      }
      made.createObjectStore('files');
    },
    // Close the connection when a newer page wants to upgrade the database, because the upgrade would wait for this
    // page.
    blocking: (_, __, event) => (event.target as IDBDatabase).close(),
  });
  return connection;
}
