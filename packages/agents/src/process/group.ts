import { setTimeout as delay } from 'node:timers/promises';

/**
 * Ends a process group, or the process alone if it leads no group. Used on systems without a process table.
 * @param hasExited - Whether the process has exited. Its pid may then belong to another process, but not to another
 *   group.
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

/** Sends the signal to the first target that exists. Returns whether one of the targets exists. */
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
