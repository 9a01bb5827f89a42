/** Reads the whole process table, without any of the code that is tested. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Entry {
  pid: number;
  parent: number;
  /** The start time of the process, in clock ticks since boot. */
  startedAt: number;
  command: string;
  /** The environment with which the process was started. It changes only if the process executes another program. */
  environ: string;
  /** The folder in which the process works. */
  folder: string;
}

/** Returns a key of one process. The key is never used for another process. */
export const keyOf = ({ pid, startedAt }: Pick<Entry, 'pid' | 'startedAt'>): string =>
  `${pid}@${startedAt}`;

/**
 * Returns all running processes, without zombies and without processes that have one of the keys: reading an
 * environment takes most of the time.
 */
export function readTable(except: ReadonlySet<string> = new Set()): Entry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readEntry(Number(name), except))
    .filter((entry) => entry !== undefined);
}

/** Returns all descendants of the processes with these pids. */
export function descendants(table: readonly Entry[], roots: readonly number[]): Entry[] {
  const family = new Set(roots);
  for (let size = -1; size !== family.size;) {
    size = family.size;
    for (const { pid, parent } of table) if (family.has(parent)) family.add(pid);
  }
  return table.filter(({ pid }) => family.has(pid) && !roots.includes(pid));
}

function readEntry(pid: number, except: ReadonlySet<string>): Entry | undefined {
  const stat = read(pid, 'stat');
  // The name of the program is in brackets. The name itself may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (stat === '' || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const startedAt = Number(fields[19]);
  if (except.has(keyOf({ pid, startedAt }))) return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    startedAt,
    command: read(pid, 'cmdline').replaceAll('\0', ' ').trim(),
    environ: read(pid, 'environ'),
    folder: folderOf(pid),
  };
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // This happens if the process has ended or belongs to another user.
    return '';
  }
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
