import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ServerProgram {
  program: string;
  args: string[];
  /** The text in the output that shows that the server is ready. */
  ready: string;
  /** The server's folder. It is deleted when the process that started the server ends. */
  folder: string;
  /** The user that runs the server, if it is not the current user. */
  user?: { uid: number; gid: number };
}

/** The time in which a server must start even on a busy machine, in ms. */
const patienceMs = 60_000;

/**
 * A shell script that waits for the end of its input, and then kills the server. The input ends when the process ends
 * that started the script.
 */
const guardScript = `trap '' INT TERM HUP; cat >/dev/null; kill -KILL "$1" 2>/dev/null; rm -rf "$2"`;

/** A server that a test process starts. The server ends when the test process ends, even if that process is killed. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #guard: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#exited = once(child, 'exit');
    const args = ['-c', guardScript, 'guard', String(child.pid), folder];
    this.#guard = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'] });
  }

  /**
   * Starts a server. Resolves when the server reports that it is ready. If the server ends before that, rejects with
   * the server's output.
   */
  static async start({
    program,
    args,
    ready,
    folder,
    user,
  }: ServerProgram): Promise<ServerProcess> {
    const child = spawn(program, args, {
      ...user,
      cwd: folder,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    const server = new ServerProcess(child, folder);
    try {
      await saysReady(child, ready);
    } catch (error) {
      await server.end('SIGKILL');
      throw error;
    }
    return server;
  }

  /** Sends the signal, and waits until the server has ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#guard.kill('SIGKILL');
    this.#child.kill(signal);
    await this.#exited;
  }

  /** Sends a signal. SIGSTOP suspends the server, as if the machine were too busy to run it; SIGCONT continues it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }
}

async function saysReady(child: ChildProcess, ready: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let output = '';
  const onOutput = (chunk: Buffer): void => {
    // Read all output even after the limit: otherwise, the server would block on a full pipe.
    if (output.length < 100_000) output += chunk.toString();
    if (output.includes(ready)) resolve();
  };
  child.stdout?.on('data', onOutput);
  child.stderr?.on('data', onOutput);
  child.once('exit', () => reject(new Error(`${child.spawnfile} did not start: ${output}`)));
  const timer = setTimeout(
    () => reject(new Error(`${child.spawnfile} is not ready after ${patienceMs} ms: ${output}`)),
    patienceMs,
  );
  await promise.finally(() => clearTimeout(timer));
}

export async function makeFolder(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `liminal-${name}-`));
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Returns a port on loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}
