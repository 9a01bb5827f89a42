import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { codexBinary } from './binary.ts';
import { codexEnvironment } from './codex-home.ts';
import type { RpcMessage } from './recording.ts';

/**
 * Runs the real `codex app-server`, and reads and writes its messages line by line. No library is used, because a
 * library could lose or change a line.
 */
export class CodexProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
  }

  static async start(
    home: string,
    cwd: string,
    onMessage: (message: RpcMessage) => void,
  ): Promise<CodexProcess> {
    const env = codexEnvironment(home);
    await mkdir(env['TMPDIR'] ?? home, { recursive: true });
    const child = spawn(codexBinary(), ['app-server'], {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => onMessage(JSON.parse(line)));
    return new CodexProcess(child);
  }

  send(message: RpcMessage): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
