// idb wraps IndexedDB in promises and does little else. localStorage is enough for drafts, but not for long messages:
// it holds about five million characters in total, and one message can have a million.
import type { UnsentMessage } from '@liminal/client';
import type { ContentBlock } from '@liminal/protocol';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';

export interface Draft {
  /** A session's id, or the name of another draft. */
  key: string;
  text: string;
  /** The draft's attachments. */
  blocks?: readonly ContentBlock[] | undefined;
  /** When the draft was changed (ms since the epoch); the newer draft wins. */
  at: number;
}

/** A file of a draft or an unsent message. */
export interface StoredFile {
  bytes: Blob;
  /** ms since the epoch. */
  at: number;
}

interface BrowserSchema extends DBSchema {
  outbox: { key: string; value: UnsentMessage };
  drafts: { key: string; value: Draft };
  /** Files by their local names. */
  files: { key: string; value: StoredFile };
}

let connection: Promise<IDBPDatabase<BrowserSchema>> | undefined;

/**
 * The database of drafts, unsent messages and their files in this browser. The database survives restarts of page,
 * browser and server. Rejects if nothing can be stored.
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
    // Close the connection when a newer page wants to upgrade the database: it must not wait for this page.
    blocking: (_, __, event) => (event.target as IDBDatabase).close(),
  });
  return connection;
}
