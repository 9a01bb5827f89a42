import { thrownMessage } from '@liminal/protocol';
/** Describes SQLite's errors for people. */

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const resultCodes = { busy: 5, readOnly: 8, ioError: 10, corrupt: 11, full: 13, notADatabase: 26 };

const advice = new Map([
  [resultCodes.busy, 'another program holds it; close that program'],
  [resultCodes.readOnly, 'it is read-only; make it writable'],
  [resultCodes.ioError, 'the disk failed or is full; check it and free some space'],
  [resultCodes.corrupt, 'it is damaged; restore it from a backup'],
  [resultCodes.full, 'the disk is full; free some space'],
  [resultCodes.notADatabase, 'it is not a database; move it away'],
]);

export function isSqliteError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

export function isBusy(error: unknown): boolean {
  return resultCodeOf(error) === resultCodes.busy;
}

/** Returns the problem as the end of a sentence, with advice if the problem is known. */
export function reasonOf(error: unknown): string {
  const message = thrownMessage(error);
  const known = advice.get(resultCodeOf(error) ?? -1);
  return known === undefined ? message : `${known} (${message})`;
}

function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) {
    return undefined;
  }
  // Only the low byte is used: the other bytes of an extended code contain details, such as which file system call
  // failed.
  return error.errcode & 0xff;
}
