import { execFileSync } from 'node:child_process';

/**
 * Fills the disk for one process. From then on, each write of this process to a file fails, and all other processes are
 * not affected. The limit on the size of files (RLIMIT_FSIZE) is set to 0. This needs no privilege and can be undone; a
 * separate file system would need the privilege to mount. The error is EFBIG instead of ENOSPC, so SQLite reports
 * SQLITE_IOERR_WRITE; `packages/storage/src/sqlite/disk.test.ts` covers SQLITE_FULL.
 */
export function fillDisk(pid: number): void {
  limitFiles(pid, '0');
}

export function freeDisk(pid: number): void {
  limitFiles(pid, 'unlimited');
}

/**
 * Sets only the soft limit, because the process's user can raise the soft limit again. The system also sends the signal
 * SIGXFSZ, which Node ignores.
 */
function limitFiles(pid: number, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

/** Words that are put before a command. They fill the disk for the command from its start. */
export const onFullDisk = ['prlimit', '--fsize=0:'];
