/** Starts programs that the agent leaves running. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Child {
  argv?: string[];
  detached?: boolean;
  ignoresTerm?: boolean;
  holdsStdout?: boolean;
}

/** Starts a program and returns its pid. */
export async function startChild(child: Child): Promise<number> {
  const {
    argv = ['sleep', '600'],
    detached = false,
    ignoresTerm = false,
    holdsStdout = false,
  } = child;
  // The shell ignores these signals, and so does the program that the shell starts.
  const [command = '', ...args] = ignoresTerm
    ? ['sh', '-c', 'trap "" TERM INT HUP; exec "$@"', 'sh', ...argv]
    : argv;
  const started = spawn(command, args, {
    detached,
    stdio: ['ignore', holdsStdout ? 'inherit' : 'ignore', 'ignore'],
  });
  await once(started, 'spawn');
  started.unref();
  if (started.pid === undefined) throw new Error(`${command} has no process id.`);
  return started.pid;
}
