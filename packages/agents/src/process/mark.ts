/**
 * A text in the environment of every agent process. All processes that the agent forks or detaches inherit the mark, so
 * the processes of a session or a server can be found (invariant 8).
 */
import { randomUUID } from 'node:crypto';
import { readProcess } from './table.ts';

const variable = 'LIMINAL_MARK';

/**
 * This server's id: its pid and start time, by which other processes can find out whether the server is alive, and a
 * random part.
 */
export const serverId = `${process.pid}.${readProcess(process.pid)?.startedAt ?? 0}.${randomUUID().slice(0, 8)}`;

export interface ProcessMark {
  /** The mark, for `endTree`. */
  id: string;
  /** The variables to add to the environment of the process, after all others. */
  env: Record<string, string>;
}

/**
 * The agent types that this server has used, by their escaped form in marks. Other types in marks are ignored, because
 * a process can write any text into its own mark.
 */
const agents = new Map<string, string>();

/**
 * Returns a new mark; each agent process needs its own mark. If this server runs inside another server's agent, the
 * mark also contains that agent's marks.
 * @param agent - The agent type under which the process is counted.
 */
export function processMark(agent = 'other'): ProcessMark {
  const escaped = encodeURIComponent(agent);
  agents.set(escaped, agent);
  return markOf(`${serverId}/${randomUUID()}/${escaped}`);
}

/**
 * Returns a new mark for a part of the processes of another mark. When the processes of the other mark are ended, the
 * processes of the new mark are also ended.
 */
export function markWithin({ id }: ProcessMark): ProcessMark {
  return markOf(`${id}/${randomUUID()}`);
}

/**
 * Returns whether `one` equals `mark`, or was made from `mark` by `markWithin`, so that its processes end together with
 * those of `mark`.
 */
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
