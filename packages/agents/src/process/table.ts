/** Reads the process table in Linux's `/proc`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Process {
  pid: number;
  parent: number;
  /** Pid of the leader of its process session (setsid). */
  session: number;
  /** Clock ticks since boot: with the pid it identifies one process, even if the pid is reused. */
  startedAt: number;
}

export const hasProcessTable = process.platform === 'linux' && existsSync('/proc/self/environ');

/** Returns a process; undefined if the process has ended or is a zombie. */
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
 * Returns the initial environment of a process: empty if it has none, has ended, or belongs to another user. Undefined
 * while the process changes its program (`exec`), because the kernel shows no environment then.
 */
export function readEnviron(pid: number): string | undefined {
  const environ = readIfThere(`/proc/${pid}/environ`);
  if (environ !== '') return environ ?? '';
  return isChangingProgram(pid) ? undefined : '';
}

/** Whether a process whose environment read as empty is changing its program, or has just done so. */
function isChangingProgram(pid: number): boolean {
  const fields = statFields(pid);
  const [size, start, end] = [20, 47, 48].map((field) => Number(fields?.[field] ?? 0));
  // A process without memory is a kernel thread or has ended. An empty environment starts where it ends.
  return size !== 0 && (end === 0 || end !== start);
}

export function isRunning(known: Process): boolean {
  return readProcess(known.pid)?.startedAt === known.startedAt;
}

/** Returns the fields from the state on. The program's name before may contain spaces and brackets. */
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
