import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { allEnded } from './end-tree.ts';
import { serverId } from './mark.ts';
import { hasProcessTable } from './table.ts';

export interface Guard {
  /** The pid of the guard; absent on a system without guards. */
  readonly pid?: number;
  /**
   * Sets the time at which the guard ends all processes with the server's marks, in ms on the clock of `os.uptime()`;
   * with undefined, the guard ends none. The time of a later call replaces the time of an earlier call. Works only for
   * a guard that was started with `watches`.
   */
  endAt: (atMs: number | undefined) => void;
  /**
   * Ends the guard when all running calls of `endTree` have returned; ends no other process. For a server that has
   * closed its sessions itself.
   */
  dismiss(): Promise<void>;
}

/** The time that a dismissed guard gets to end, in ms: a suspended guard does not end by itself. */
const endLimitMs = 2_000;

const script = fileURLToPath(new URL('./guard.sh', import.meta.url));

/**
 * Starts the guard: one small process per server, which ends all processes with the server's marks when the server ends
 * for any reason (invariant 8). The guard leads its own process session, so that it survives the end of the server's
 * group. The guard detects the server's end by a closed pipe. Call this function before the first agent starts.
 * @param watches - Whether the caller will use `endAt`. A guard that supports `endAt` costs four more small processes.
 */
export async function startGuard({ watches = false } = {}): Promise<Guard> {
  if (!hasProcessTable) return { endAt: () => {}, dismiss: async () => {} };
  const child = spawn('/bin/sh', [script, serverId, ...(watches ? ['watched'] : [])], {
    cwd: '/',
    // The environment has no mark, even if this server itself has one, because an outer server must not end the guard.
    env: { PATH: process.env['PATH'] },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // The guard prints its first line when it has begun to ignore signals.
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  child.stdout.destroy();
  // Writing to a guard that has ended must not end the server.
  child.stdin.on('error', () => {});
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return {
    ...(child.pid && { pid: child.pid }),
    endAt: (atMs) => {
      child.stdin.write(atMs === undefined ? 'until\n' : `until ${Math.ceil(atMs / 10)}\n`);
    },
    dismiss: async () => {
      await allEnded();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.ref();
      child.stdin.end('bye\n');
      const timer = setTimeout(() => child.kill('SIGKILL'), endLimitMs);
      await exited;
      clearTimeout(timer);
    },
  };
}
