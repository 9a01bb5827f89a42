import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a small file of the data folder, readable by its owner only. After a crash, a power cut or on a full disk the
 * path has the old text or the new one, never a part. Throws the file system's error.
 * @param put - Gives the finished file its place. Default: in place of what is there.
 */
export function writeWhole(
  path: string,
  text: string,
  put: (draft: string, path: string) => void = renameSync,
): void {
  // An older process may have had this number and left its draft.
  const draft = `${path}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    put(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

/** Makes a new name last. Not every file system can. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch {
    // The name lasts as well as this file system lets it.
  } finally {
    closeSync(fd);
  }
}
