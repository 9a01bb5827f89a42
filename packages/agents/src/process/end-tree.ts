import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { findTree, processKey, type TreeQuery } from './find-tree.ts';
import { endGroup } from './group.ts';
import { isWithin } from './mark.ts';
import { hasProcessTable, isRunning, type Process, readProcess } from './table.ts';

export interface TreeTarget {
  /**
   * The id of a `ProcessMark`. Ends every process, detached or not, that was started with the mark, or with a mark that
   * `markWithin` made from the mark.
   */
  mark?: string;
  /**
   * Ends this process and its descendants; without Linux's `/proc`, ends its process group. If the process has exited,
   * it is ignored, because another process may have got its pid.
   */
  child?: Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'> | undefined;
}

export interface EndOptions {
  /** The time between SIGTERM and SIGKILL, in ms. */
  graceMs?: number;
}

export interface Ended {
  /** The number of processes that were ended. */
  ended: number;
  /** The pids of processes that did not end within 10 s of SIGKILL, because the processes hang in the kernel. */
  left: number[];
}

const defaultGraceMs = 2_000;
const killLimitMs = 10_000;

/** The running calls of `endTree`. */
const underWay = new Set<Promise<Ended>>();

/**
 * Ends a process tree: SIGTERM first, then SIGKILL for the processes that remain after the grace period, until no
 * process is left (invariant 8). An unmarked process that has left the tree before this call is not found.
 */
export async function endTree(target: TreeTarget, options: EndOptions = {}): Promise<Ended> {
  const ending = endTarget(target, options.graceMs ?? defaultGraceMs);
  underWay.add(ending);
  try {
    return await ending;
  } finally {
    underWay.delete(ending);
  }
}

/** Resolves when all running calls of `endTree` have returned. */
export async function allEnded(): Promise<void> {
  await Promise.allSettled(underWay);
}

/** Ends all processes with a mark of the server with this id. */
export async function endMarksOf(serverId: string, options: EndOptions = {}): Promise<Ended> {
  if (!hasProcessTable) return { ended: 0, left: [] };
  const hasMark = (mark: string) => mark.startsWith(`${serverId}/`);
  return endFound({ hasMark }, options.graceMs ?? defaultGraceMs);
}

async function endTarget({ mark, child }: TreeTarget, graceMs: number): Promise<Ended> {
  const hasExited = child !== undefined && (child.exitCode !== null || child.signalCode !== null);
  if (!hasProcessTable) return endGroup(child?.pid, hasExited, graceMs, killLimitMs);
  const root = child?.pid === undefined || hasExited ? undefined : readProcess(child.pid);
  const query = mark ? { hasMark: (one: string) => isWithin(one, mark) } : {};
  return endFound(query, graceMs, root);
}

async function endFound(
  query: Omit<TreeQuery, 'known'>,
  graceMs: number,
  root?: Process,
): Promise<Ended> {
  const known = new Set(root && [processKey(root)]);
  const signalled = new Set<string>();
  // The times at which the first SIGTERM and the first SIGKILL were sent. The grace period starts when the signal was
  // sent, because reading the process table may take long.
  let termAt: number | undefined;
  let killedAt: number | undefined;
  // Each round reads the process table again, because processes may fork while they are being ended. The loop ends
  // after two empty rounds, because one read can miss a process: a process may fork during the read and then end.
  for (let empty = 0; ;) {
    const { tree, isComplete: isWhole } = findTree({ ...query, known });
    empty = tree.length === 0 && isWhole ? empty + 1 : 0;
    if (empty === 2) return { ended: known.size, left: [] };
    const now = performance.now();
    if (killedAt !== undefined && now - killedAt > killLimitMs) {
      return { ended: known.size - tree.length, left: tree.map(({ pid }) => pid) };
    }
    if (tree.length > 0) termAt ??= now;
    const graceLeft = graceMs - (now - (termAt ?? now));
    if (graceLeft <= 0 && tree.length > 0) killedAt ??= now;
    for (const one of tree) {
      if (graceLeft <= 0) signal(one, 'SIGKILL');
      else if (!signalled.has(processKey(one))) signal(one, 'SIGTERM');
      signalled.add(processKey(one));
      known.add(processKey(one));
    }
    if (tree.length === 0) await delay(1);
    else await gone(tree, Math.min(100, Math.max(10, graceLeft)));
  }
}

function signal(one: Process, name: NodeJS.Signals): void {
  if (!isRunning(one)) return;
  try {
    process.kill(one.pid, name);
  } catch {
    // The process has just ended, or belongs to another user; the next round shows which is true.
  }
}

async function gone(tree: readonly Process[], limitMs: number): Promise<void> {
  const start = performance.now();
  while (tree.some(isRunning) && performance.now() - start < limitMs) await delay(10);
}
