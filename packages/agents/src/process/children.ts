import { keyOf } from './find-tree.ts';
import { hasProcessTable, listProcesses } from './table.ts';

/**
 * What a process has started itself and is still there, by `keyOf`; nothing where there is no process table. Takes a
 * millisecond or two: read one file after another, which is a fifth of the work of reading them side by side.
 */
export function childrenOf(pid: number): Set<string> {
  if (!hasProcessTable) return new Set();
  return new Set(
    listProcesses()
      .filter(({ parent }) => parent === pid)
      .map(keyOf),
  );
}
