/**
 * The mark that every agent process starts with in its environment and that all it forks or detaches inherits, so
 * that what belongs to a session, or to a server, can be found again (invariant 8).
 */
import { randomUUID } from 'node:crypto';
import { readProcess } from './table.ts';

const variable = 'LIMINAL_MARK';

/** This server: its pid and start time, which tell whether it still lives, and what no other server has. */
export const serverId = `${process.pid}.${readProcess(process.pid)?.startedAt ?? 0}.${randomUUID().slice(0, 8)}`;

export interface ProcessMark {
  /** What `endTree` looks for. */
  id: string;
  /** To add to the environment of the process, after everything else. */
  env: Record<string, string>;
}

/** A new mark, one per agent process. A server that runs inside an agent of another adds its marks to the other's. */
export function processMark(): ProcessMark {
  const id = `${serverId}/${randomUUID()}`;
  const outer = process.env[variable];
  return { id, env: { [variable]: outer ? `${outer} ${id}` : id } };
}

/** The marks in the text of `/proc/<pid>/environ`. */
export function marksIn(environ: string): string[] {
  const prefix = `${variable}=`;
  return environ
    .split('\0')
    .filter((entry) => entry.startsWith(prefix))
    .flatMap((entry) => entry.slice(prefix.length).split(' '));
}

export function isServerAlive(id: string): boolean {
  const [pid, startedAt] = id.split('.').map(Number);
  return pid !== undefined && readProcess(pid)?.startedAt === startedAt;
}
