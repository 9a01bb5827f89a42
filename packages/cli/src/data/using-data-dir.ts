import { LiminalError } from '@liminal/protocol';
import { errors } from '../errors.ts';

/**
 * Runs `work` on the data folder. Errors of the file system or the database become a LiminalError `DATA_DIR_UNUSABLE`
 * that names the folder.
 */
export async function usingDataDir<T>(dataDir: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    throw errors.DATA_DIR_UNUSABLE.folder(dataDir, cause.message, { cause });
  }
}

function isSystemError(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof LiminalError) return false;
  return 'syscall' in error || ('code' in error && error.code === 'ERR_SQLITE_ERROR');
}
