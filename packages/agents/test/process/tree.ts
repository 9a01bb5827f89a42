/** Starts real process trees for the tests of invariant 8. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { readProcess } from '../../src/process/table.ts';

export interface Tree {
  root: ChildProcess;
  /** Returns the pids that the script printed. */
  pids: number[];
  /** Resolves when no process has the script's standard output open. */
  closed: Promise<void>;
}

const started = new Set<number>();

/** Runs a shell script that prints `count` pids, one per line. */
export async function growTree(
  script: string,
  count: number,
  env: Record<string, string> = {},
): Promise<Tree> {
  const root = spawn('/bin/sh', ['-c', script], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise<void>((resolve) => root.stdout.once('close', () => resolve()));
  const pids: number[] = [];
  const lines = createInterface(root.stdout);
  await new Promise<void>((resolve, reject) => {
    root.once('error', reject);
    lines.on('line', (line) => {
      pids.push(Number(line));
      if (pids.length === count) resolve();
    });
  });
  for (const pid of [root.pid ?? 0, ...pids]) started.add(pid);
  return { root, pids, closed };
}

export const isThere = (pid: number): boolean => readProcess(pid) !== undefined;

/** Waits until the process table has none of the processes. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  await vi.waitFor(
    () => {
      const left = pids.filter(isThere);
      if (left.length > 0) throw new Error(`still running: ${left.join(', ')}`);
    },
    { timeout: 30_000, interval: 20 },
  );
}

/** Ends processes that a failed test has left behind. */
export function fellTrees(): void {
  for (const pid of started) if (isThere(pid)) process.kill(pid, 'SIGKILL');
  started.clear();
}
