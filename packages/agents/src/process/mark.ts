/**
 * The mark in the environment of every agent process. All processes that the agent forks or detaches inherit the mark,
 * so that the processes of a session or a server can be found (invariant 8).
 */
import { randomUUID } from 'node:crypto';
import { readProcess } from './table.ts';

const variable = 'LIMINAL_MARK';

/** This server's id: its pid and start time, which show whether the server is alive, and a random part. */
export const serverId = `${process.pid}.${readProcess(process.pid)?.startedAt ?? 0}.${randomUUID().slice(0, 8)}`;

export interface ProcessMark {
  /** The mark, for `endTree`. */
  id: string;
  /** Add these variables to the environment of the process, after all others. */
  env: Record<string, string>;
}

/** Agent types by their escaped form in marks. Only these count: a process can write anything into its own mark. */
const agents = new Map<string, string>();

/**
 * Returns a new mark, one per agent process. A server that runs inside another server's agent keeps that agent's marks.
 * @param agent - The agent type under which the process is counted.
 */
export function processMark(agent = 'other'): ProcessMark {
  const escaped = encodeURIComponent(agent);
  agents.set(escaped, agent);
  return markOf(`${serverId}/${randomUUID()}/${escaped}`);
}

/** Returns a new mark for some processes of another mark. Ending the other mark also ends these processes. */
export function markWithin({ id }: ProcessMark): ProcessMark {
  return markOf(`${id}/${randomUUID()}`);
}

/** Whether `one` is `mark` or a mark within it, so that its processes end together with those of `mark`. */
export function isWithin(one: string, mark: string): boolean {
  return one === mark || one.startsWith(`${mark}/`);
}

function markOf(id: string): ProcessMark {
  const outer = process.env[variable];
  return { id, env: { [variable]: outer ? `${outer} ${id}` : id } };
}

/** Returns the marks in the text of `/proc/<pid>/environ`. */
export function marksIn(environ: string): string[] {
  const prefix = `${variable}=`;
  return environ
    .split('\0')
    .filter((entry) => entry.startsWith(prefix))
    .flatMap((entry) => entry.slice(prefix.length).split(' '));
}

/** Returns the agent type in a mark of this server; undefined for other marks. */
export function agentOf(mark: string): string | undefined {
  const [server, , agent = ''] = mark.split('/');
  return server === serverId ? agents.get(agent) : undefined;
}

export function isServerAlive(id: string): boolean {
  const [pid, startedAt] = id.split('.').map(Number);
  return pid !== undefined && readProcess(pid)?.startedAt === startedAt;
}
