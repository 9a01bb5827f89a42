import { setTimeout as delay } from 'node:timers/promises';

/** The fallback without a process table: ends a process group, or the process if it leads none. */
export async function endGroup(
  pid: number | undefined,
  graceMs: number,
  killLimitMs: number,
): Promise<{ ended: number; left: number[] }> {
  if (!pid || !send(pid, 0)) return { ended: 0, left: [] };
  send(pid, 'SIGTERM');
  if (await gone(pid, graceMs)) return { ended: 1, left: [] };
  send(pid, 'SIGKILL');
  return (await gone(pid, killLimitMs)) ? { ended: 1, left: [] } : { ended: 0, left: [pid] };
}

/** Whether the target exists. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  return [-pid, pid].some((target) => {
    try {
      return process.kill(target, signal);
    } catch {
      return false;
    }
  });
}

async function gone(pid: number, limitMs: number): Promise<boolean> {
  for (const start = performance.now(); performance.now() - start < limitMs; await delay(10)) {
    if (!send(pid, 0)) return true;
  }
  return !send(pid, 0);
}
