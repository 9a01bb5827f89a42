import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { errors } from '../errors.ts';

/** The largest size that is read, in bytes: the small files of the data folder never get this large. */
const largest = 16 * 1024 * 1024;

/**
 * Returns the text of a small file of the data folder. Throws the file system's error. If the file has more than 16
 * MiB, or is a pipe or a device (which could be read without end), throws LiminalError `DATA_DIR_UNUSABLE`.
 */
export function readSmall(path: string): string {
  // Without O_NONBLOCK, opening a pipe would wait for a writer, and no signal could end the process.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const found = fstatSync(fd);
    if (!found.isFile() && !found.isDirectory()) {
      throw errors.DATA_DIR_UNUSABLE.notFile(path);
    }
    if (found.size > largest) {
      throw errors.DATA_DIR_UNUSABLE.tooLarge(path);
    }
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
