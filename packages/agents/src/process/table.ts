/** The process table as Linux shows it in `/proc`. */
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

/** Undefined for a process that has ended, or a zombie: nothing is left to end. */
export function readProcess(pid: number): Process | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets, which may itself contain spaces and brackets.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
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

/** The initial environment of a process; empty if it has ended or belongs to another user. */
export function readEnviron(pid: number): string {
  return readIfThere(`/proc/${pid}/environ`) ?? '';
}

export function isRunning(known: Process): boolean {
  return readProcess(known.pid)?.startedAt === known.startedAt;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
