import { readdir, readFile } from 'node:fs/promises';
import { keyOf } from './find-tree.ts';
import { hasProcessTable, parseStat } from './table.ts';

/** What a process has started itself and is still there, by `keyOf`; nothing where there is no process table. */
export async function childrenOf(pid: number): Promise<Set<string>> {
  if (!hasProcessTable) return new Set();
  // Not at once, as an end is looked for: this is done while others are at work.
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(
    pids.map(async (one) =>
      parseStat(one, await readFile(`/proc/${one}/stat`, 'utf8').catch(() => undefined)),
    ),
  );
  const children = stats.filter((one) => one?.parent === pid);
  return new Set(children.flatMap((one) => (one ? [keyOf(one)] : [])));
}
