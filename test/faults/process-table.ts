/** The process table, read completely and without any code under test. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Entry {
  pid: number;
  parent: number;
  /** Clock ticks since boot. */
  startedAt: number;
  command: string;
  /** The environment with which the process was started; it changes only if the process executes another program. */
  environ: string;
  /** The folder it works in. */
  folder: string;
}

/** A name of one process that is never reused. */
export const keyOf = ({ pid, startedAt }: Pick<Entry, 'pid' | 'startedAt'>): string =>
  `${pid}@${startedAt}`;

/**
 * All running processes, without zombies and those with one of the keys: reading an environment takes most of the time.
 */
export function readTable(except: ReadonlySet<string> = new Set()): Entry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readEntry(Number(name), except))
    .filter((entry) => entry !== undefined);
}

/** All descendants of processes with these pids. */
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
  // The program's name is in brackets, and may itself contain spaces and brackets.
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
    // The process has ended, or belongs to another user.
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
