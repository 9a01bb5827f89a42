import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { allEnded } from './end-tree.ts';
import { serverId } from './mark.ts';
import { hasProcessTable } from './table.ts';

export interface Guard {
  /** Absent if there is no guard here. */
  readonly pid?: number;
  /**
   * Ends all processes with the server's marks at this moment, in ms on the clock of `os.uptime()`, unless another moment
   * is set before; undefined for never. Only for a guard that was started to watch.
   */
  endAt: (atMs: number | undefined) => void;
  /**
   * Ends the guard once all endings under way are done, without ending anything else: for a server that has closed its
   * sessions itself.
   */
  dismiss(): Promise<void>;
}

/** How long a guard that has nothing more to do may take to end, ms: one that is suspended does not end by itself. */
const END_MS = 2_000;

const script = fileURLToPath(new URL('./guard.sh', import.meta.url));

/**
 * Starts one small process per server that ends all processes with the server's marks when the server is gone, for
 * whatever reason (invariant 8). It leads its own process session, so that it survives the end of the server's group;
 * it notices the server's end by its pipe. Call it before the first agent starts.
 * @param watches - Whether `endAt` will be called. It costs four more small processes.
 */
export async function startGuard({ watches = false } = {}): Promise<Guard> {
  if (!hasProcessTable) return { endAt: () => {}, dismiss: async () => {} };
  const child = spawn('/bin/sh', [script, serverId, ...(watches ? ['watched'] : [])], {
    cwd: '/',
    // Without a mark that this server itself may carry: an outer server must not end the guard.
    env: { PATH: process.env['PATH'] },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // Its first word comes once it ignores signals.
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  child.stdout.destroy();
  // A guard that has ended must not end the server.
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
      const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}
