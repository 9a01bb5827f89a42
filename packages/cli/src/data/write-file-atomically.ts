import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a small file of the data folder, readable only by its owner. After a crash, after a power cut or on a full
 * disk, the file has either the old or the new text, never a part of it. Throws the file system's error.
 * @param put - Moves the finished file to its path. The default replaces the file at that path.
 */
export function writeFileAtomically(
  path: string,
  text: string,
  put: (draft: string, path: string) => void = renameSync,
): void {
  // An earlier process with the same pid may have left its draft.
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

/**
 * Writes a new file name to the disk, by fsync of the folder. Does nothing if the file system does not support fsync of
 * a folder.
 */
function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch {
    // This file system cannot sync a folder.
  } finally {
    closeSync(fd);
  }
}
