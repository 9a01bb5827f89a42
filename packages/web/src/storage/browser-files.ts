import { type FileStorage, localUri } from '@liminal/client';
import { database } from './database.ts';

/** Stores the files of drafts and unsent messages in the browser. */
export function browserFiles(): FileStorage {
  // Do not wait for the removal. If the browser has no database, it has no files to remove.
  void removeOrphanedFiles().catch(() => undefined);
  return {
    get: async (uri) => (await (await database()).get('files', uri))?.bytes,
    put: async (uri, bytes) =>
      void (await (await database()).put('files', { bytes, at: Date.now() }, uri)),
    remove: async (uri) => (await database()).delete('files', uri),
  };
}

/** A file that was stored less than this time ago (ms) is kept, because its draft may not refer to the file yet. */
const minAge = 60 * 60_000;

/**
 * Removes files to which no draft and no unsent message refers: files of deleted messages, and files that a closed page
 * has left.
 */
async function removeOrphanedFiles(): Promise<void> {
  const all = (await database()).transaction(['outbox', 'drafts', 'files'], 'readwrite');
  const holders = [
    ...(await all.objectStore('outbox').getAll()),
    ...(await all.objectStore('drafts').getAll()),
  ];
  const named = new Set(holders.flatMap(({ blocks = [] }) => blocks.map(localUri)));
  const files = all.objectStore('files');
  for await (const { key, value } of files.iterate()) {
    if (!named.has(key) && value.at < Date.now() - minAge) await files.delete(key);
  }
  await all.done;
}
