/**
 * The mark in the environment of every agent process. All that it forks or detaches inherits it, so that the processes
 * of a session, or of a server, can be found (invariant 8).
 */
import { randomUUID } from 'node:crypto';
import { readProcess } from './table.ts';

const variable = 'LIMINAL_MARK';

/** This server: its pid and start time, which tell whether it is alive, and a random part. */
export const serverId = `${process.pid}.${readProcess(process.pid)?.startedAt ?? 0}.${randomUUID().slice(0, 8)}`;

export interface ProcessMark {
  /** For `endTree`. */
  id: string;
  /** To be added to the environment of the process, after everything else. */
  env: Record<string, string>;
}

/** The agent types that marks were made for, as marks have them: what an agent starts can write anything into its own. */
const agents = new Map<string, string>();

/**
 * A new mark, one per agent process. A server that runs inside another server's agent keeps that agent's marks.
 * @param agent - The agent type that the process counts for.
 */
export function processMark(agent = 'other'): ProcessMark {
  const escaped = encodeURIComponent(agent);
  agents.set(escaped, agent);
  return markOf(`${serverId}/${randomUUID()}/${escaped}`);
}

/** A new mark for some of the processes of another mark. Ending the other mark ends them as well. */
export function markWithin({ id }: ProcessMark): ProcessMark {
  return markOf(`${id}/${randomUUID()}`);
}

/** Whether a process with the mark `one` ends with the processes of `mark`. */
export function isWithin(one: string, mark: string): boolean {
  return one === mark || one.startsWith(`${mark}/`);
}

function markOf(id: string): ProcessMark {
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

/** The agent type of a mark of this server; undefined for other marks. */
export function agentOf(mark: string): string | undefined {
  const [server, , agent = ''] = mark.split('/');
  return server === serverId ? agents.get(agent) : undefined;
}

export function isServerAlive(id: string): boolean {
  const [pid, startedAt] = id.split('.').map(Number);
  return pid !== undefined && readProcess(pid)?.startedAt === startedAt;
}
