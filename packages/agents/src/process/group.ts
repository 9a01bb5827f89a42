import { setTimeout as delay } from 'node:timers/promises';

/**
 * Ends a process group, or the process if it does not lead a group. For systems without a process table.
 * @param hasExited - Whether the process has exited: then its pid may be another process's, but not another group's.
 */
export async function endGroup(
  pid: number | undefined,
  hasExited: boolean,
  graceMs: number,
  killLimitMs: number,
): Promise<{ ended: number; left: number[] }> {
  const targets = pid === undefined ? [] : hasExited ? [-pid] : [-pid, pid];
  if (pid === undefined || !send(targets, 0)) return { ended: 0, left: [] };
  send(targets, 'SIGTERM');
  if (await gone(targets, graceMs)) return { ended: 1, left: [] };
  send(targets, 'SIGKILL');
  return (await gone(targets, killLimitMs)) ? { ended: 1, left: [] } : { ended: 0, left: [pid] };
}

/** Sends the signal to the first target that exists. Returns whether a target exists. */
function send(targets: readonly number[], signal: NodeJS.Signals | 0): boolean {
  return targets.some((target) => {
    try {
      return process.kill(target, signal);
    } catch {
      return false;
    }
  });
}

async function gone(targets: readonly number[], limitMs: number): Promise<boolean> {
  for (const start = performance.now(); performance.now() - start < limitMs; await delay(10)) {
    if (!send(targets, 0)) return true;
  }
  return !send(targets, 0);
}
