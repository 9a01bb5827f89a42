import { marksIn } from './mark.ts';
import { listProcesses, readEnviron, type Process } from './table.ts';

export interface TreeQuery {
  /** Whether a process with such a mark belongs to the tree. */
  hasMark?: (mark: string) => boolean;
  /** The process at the root. Counts only while it is marked or started by this server: a pid may be reused. */
  pid?: number;
  /** Processes known from an earlier look, by `keyOf`. */
  known: ReadonlySet<string>;
}

export const keyOf = ({ pid, startedAt }: Process): string => `${pid}@${startedAt}`;

export interface FoundTree {
  tree: Process[];
  /** Whether no process was changing its program, whose marks can only be read at the next look. */
  isWhole: boolean;
}

/**
 * All processes of a tree: the marked ones, the root, the known ones, all their descendants, and all in a process
 * session that one of them leads. Never this process or its ancestors.
 */
export function findTree(query: TreeQuery): FoundTree {
  const all = new Map(listProcesses().map((one) => [one.pid, one]));
  const spared = lineage(process.pid, all);
  const candidates = [...all.values()].filter(({ pid }) => !spared.has(pid));
  const tree = new Map<number, Process>();
  let isWhole = true;
  for (const one of candidates) {
    const environ = query.hasMark && readEnviron(one.pid);
    if (query.hasMark && environ === undefined) isWhole = false;
    if (isRoot(one, environ ?? '', query, all)) tree.set(one.pid, one);
  }
  for (let size = -1; size !== tree.size;) {
    size = tree.size;
    for (const one of candidates) {
      if (tree.has(one.parent) || tree.has(one.session)) tree.set(one.pid, one);
    }
  }
  return { tree: [...tree.values()], isWhole };
}

function isRoot(
  one: Process,
  environ: string,
  query: TreeQuery,
  all: ReadonlyMap<number, Process>,
): boolean {
  if (query.known.has(keyOf(one))) return true;
  if (query.hasMark && marksIn(environ).some(query.hasMark)) return true;
  return one.pid === query.pid && lineage(one.pid, all).has(process.pid);
}

/** A process and its ancestors. */
function lineage(pid: number, all: ReadonlyMap<number, Process>): Set<number> {
  const line = new Set<number>();
  for (let at: number | undefined = pid; at && !line.has(at); at = all.get(at)?.parent)
    line.add(at);
  return line;
}
