import { keyOf } from './find-tree.ts';
import { hasProcessTable, listProcesses } from './table.ts';

/**
 * The running children of a process, by `keyOf`; none if there is no process table. Takes a millisecond or two: it
 * reads one file after another, which is a fifth of the work of reading them in parallel.
 */
export function childrenOf(pid: number): Set<string> {
  if (!hasProcessTable) return new Set();
  return new Set(
    listProcesses()
      .filter(({ parent }) => parent === pid)
      .map(keyOf),
  );
}
