import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { allEnded } from './end-tree.ts';
import { serverId } from './mark.ts';
import { hasProcessTable } from './table.ts';

export interface Guard {
  /** Absent where there is nothing to guard with. */
  readonly pid?: number;
  /**
   * Sends it away without ending anything, once what is being ended has ended: for a server that has ended its sessions
   * itself.
   */
  dismiss(): Promise<void>;
}

const script = fileURLToPath(new URL('./guard.sh', import.meta.url));

/**
 * Starts the one small process per server that ends all that bears the server's marks when the server is gone,
 * however it went (invariant 8). It leads its own process session, so that nothing that ends the server's group ends
 * it too; the end of the pipe to it tells it. Call it before the first agent starts.
 */
export async function startGuard(): Promise<Guard> {
  if (!hasProcessTable) return { dismiss: async () => {} };
  const child = spawn('/bin/sh', [script, serverId], {
    cwd: '/',
    // Nothing of a mark that this server itself may bear: an outer server leaves it to finish its work.
    env: { PATH: process.env['PATH'] },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
  // A guard that is gone is no reason for the server to go.
  child.stdin.on('error', () => {});
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return {
    ...(child.pid && { pid: child.pid }),
    dismiss: async () => {
      await allEnded();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.ref();
      child.stdin.end('bye\n');
      await exited;
    },
  };
}
