/** Reads the process table in Linux's `/proc`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Process {
  pid: number;
  parent: number;
  /** The pid of the process that leads its process session (setsid). */
  session: number;
  /**
   * The start time in clock ticks since boot: pid and start time together identify one process, even if the pid is
   * reused.
   */
  startedAt: number;
}

export const hasProcessTable = process.platform === 'linux' && existsSync('/proc/self/environ');

/** Returns a process; undefined if it has ended or is a zombie. */
export function readProcess(pid: number): Process | undefined {
  const fields = statFields(pid);
  if (!fields || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const [, parent, , session] = fields.map(Number);
  return { pid, parent: parent ?? 0, session: session ?? 0, startedAt: Number(fields[19]) };
}

export function listProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((found) => found !== undefined);
}

/**
 * Returns the environment with which a process was started; empty if the environment is empty, or if the process has
 * ended or belongs to another user. Returns undefined while the process starts another program (`exec`), because the
 * kernel then shows no environment.
 */
export function readEnviron(pid: number): string | undefined {
  const environ = readIfThere(`/proc/${pid}/environ`);
  if (environ !== '') return environ ?? '';
  return isChangingProgram(pid) ? undefined : '';
}

/** Returns whether a process whose environment was read as empty is starting another program, or has just done so. */
function isChangingProgram(pid: number): boolean {
  const fields = statFields(pid);
  const [size, start, end] = [20, 47, 48].map((field) => Number(fields?.[field] ?? 0));
  // A process without memory is a kernel thread, or has ended. If the environment is empty, its end equals its start.
  return size !== 0 && (end === 0 || end !== start);
}

export function isRunning(known: Process): boolean {
  return readProcess(known.pid)?.startedAt === known.startedAt;
}

/**
 * Returns those fields of a process's `stat` file that follow the program's name; the first of them is the state. The
 * name itself may contain spaces and brackets.
 */
function statFields(pid: number): string[] | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
