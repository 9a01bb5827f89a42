import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { findTree, keyOf, type TreeQuery } from './find-tree.ts';
import { endGroup } from './group.ts';
import { isWithin } from './mark.ts';
import { hasProcessTable, isRunning, type Process, readProcess } from './table.ts';

export interface TreeTarget {
  /** `ProcessMark.id`: ends everything that started with the mark, or one within it, detached or not. */
  mark?: string;
  /**
   * Ends this process and its descendants; without Linux's `/proc`, its process group. One that has exited is left alone:
   * its pid may be another process's by now.
   */
  child?: Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'> | undefined;
}

export interface EndOptions {
  /** From SIGTERM to SIGKILL, ms. */
  graceMs?: number;
}

export interface Ended {
  /** How many processes were ended. */
  ended: number;
  /** Pids that SIGKILL could not end within 10 s: processes that hang in the kernel. */
  left: number[];
}

const defaultGraceMs = 2_000;
const killLimitMs = 10_000;

/** Endings under way. */
const underWay = new Set<Promise<Ended>>();

/**
 * Ends a process tree: SIGTERM, then SIGKILL for processes that remain after the grace, until none is left (invariant
 * 8). An unmarked process that had left the tree before cannot be found.
 */
export async function endTree(target: TreeTarget, options: EndOptions = {}): Promise<Ended> {
  const ending = end(target, options.graceMs ?? defaultGraceMs);
  underWay.add(ending);
  try {
    return await ending;
  } finally {
    underWay.delete(ending);
  }
}

/** Resolves when all endings under way are done, for any caller. */
export async function allEnded(): Promise<void> {
  await Promise.allSettled(underWay);
}

/** Ends all processes with a mark of one server. */
export async function endMarksOf(serverId: string, options: EndOptions = {}): Promise<Ended> {
  if (!hasProcessTable) return { ended: 0, left: [] };
  const hasMark = (mark: string) => mark.startsWith(`${serverId}/`);
  return endFound({ hasMark }, options.graceMs ?? defaultGraceMs);
}

async function end({ mark, child }: TreeTarget, graceMs: number): Promise<Ended> {
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
  const known = new Set(root && [keyOf(root)]);
  const told = new Set<string>();
  // When the first SIGTERM and the first SIGKILL were sent: a look at the table may take long, and costs no grace.
  let toldAt: number | undefined;
  let killedAt: number | undefined;
  // Each round looks again, because processes fork while they are being ended; one may go unseen that was forked while
  // the table was read, by a process that then ended.
  for (let empty = 0; ;) {
    const { tree, isWhole } = findTree({ ...query, known });
    empty = tree.length === 0 && isWhole ? empty + 1 : 0;
    if (empty === 2) return { ended: known.size, left: [] };
    const now = performance.now();
    if (killedAt !== undefined && now - killedAt > killLimitMs) {
      return { ended: known.size - tree.length, left: tree.map(({ pid }) => pid) };
    }
    if (tree.length > 0) toldAt ??= now;
    const graceLeft = graceMs - (now - (toldAt ?? now));
    if (graceLeft <= 0 && tree.length > 0) killedAt ??= now;
    for (const one of tree) {
      if (graceLeft <= 0) signal(one, 'SIGKILL');
      else if (!told.has(keyOf(one))) signal(one, 'SIGTERM');
      told.add(keyOf(one));
      known.add(keyOf(one));
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
    // It has just ended, or belongs to another user: the next look shows which.
  }
}

async function gone(tree: readonly Process[], limitMs: number): Promise<void> {
  const start = performance.now();
  while (tree.some(isRunning) && performance.now() - start < limitMs) await delay(10);
}
