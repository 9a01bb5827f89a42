import { marksIn } from './mark.ts';
import { listProcesses, readEnviron, type Process } from './table.ts';

export interface TreeQuery {
  /** Whether a process with this mark belongs to the tree. */
  hasMark?: (mark: string) => boolean;
  /** The root process and the processes from earlier reads, by `processKey`, because a pid may be reused. */
  known: ReadonlySet<string>;
}

export const processKey = ({ pid, startedAt }: Process): string => `${pid}@${startedAt}`;

export interface FoundTree {
  tree: Process[];
  /**
   * False if a process was just starting another program. The marks of such a process can be read only in the next
   * round.
   */
  isComplete: boolean;
}

/**
 * Returns the processes of a tree: the processes with the mark, those in `known`, the descendants of both, and all
 * processes in a process session that one of these processes leads. This process and its ancestors never belong to the
 * tree.
 */
export function findTree(query: TreeQuery): FoundTree {
  const all = new Map(listProcesses().map((one) => [one.pid, one]));
  const spared = lineage(process.pid, all);
  const candidates = [...all.values()].filter(({ pid }) => !spared.has(pid));
  const tree = new Map<number, Process>();
  let isComplete = true;
  for (const one of candidates) {
    const environ = query.hasMark && readEnviron(one.pid);
    if (query.hasMark && environ === undefined) isComplete = false;
    if (isRoot(one, environ ?? '', query)) tree.set(one.pid, one);
  }
  for (let size = -1; size !== tree.size;) {
    size = tree.size;
    for (const one of candidates) {
      if (tree.has(one.parent) || tree.has(one.session)) tree.set(one.pid, one);
    }
  }
  return { tree: [...tree.values()], isComplete };
}

const isRoot = (one: Process, environ: string, { known, hasMark }: TreeQuery): boolean =>
  known.has(processKey(one)) || (hasMark !== undefined && marksIn(environ).some(hasMark));

/** Returns the pids of a process and its ancestors. */
function lineage(pid: number, all: ReadonlyMap<number, Process>): Set<number> {
  const line = new Set<number>();
  for (let at: number | undefined = pid; at && !line.has(at); at = all.get(at)?.parent)
    line.add(at);
  return line;
}
