import { execFileSync } from 'node:child_process';

/**
 * Fills the disk for one process: from now on each write of its to a file fails, while others go on as before. That is
 * the limit on the size of files (RLIMIT_FSIZE) at 0, which takes no right to set and can be taken back; a file system
 * of a test's own would take the right to mount. The system says EFBIG where a full file system says ENOSPC, so what
 * SQLite gives is SQLITE_IOERR_WRITE; `packages/storage/src/sqlite/disk.test.ts` has its twin, SQLITE_FULL.
 */
export function fillDisk(pid: number): void {
  limitFiles(pid, '0');
}

export function freeDisk(pid: number): void {
  limitFiles(pid, 'unlimited');
}

/** The soft limit only, which its own process and its user can raise again. Node ignores the signal that goes with it. */
function limitFiles(pid: number, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

/** Words in front of a command that fill the disk for it from its start. */
export const onFullDisk = ['prlimit', '--fsize=0:'];
