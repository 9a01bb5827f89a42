import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../packages/cli/bin/liminal.js', import.meta.url));

/** How long a server that is expected to fail at its start may run, in ms. */
const patience = 60_000;

export interface RefusedStart {
  /** Undefined if the server did start and therefore had to be killed. */
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
}

/** Starts a server that is expected to fail. `before` contains words that are put before the server's command. */
export function refusedStart(
  dataDir: string,
  home: string,
  before: readonly string[] = [],
): Promise<RefusedStart> {
  const server = [process.execPath, main, 'serve', '--port', '0', '--no-open', '--data', dataDir];
  const [program = '', ...args] = [...before, ...server];
  const env = { PATH: process.env['PATH'], HOME: home };
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { env, timeout: patience, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : error.code;
        resolve({
          exitCode: typeof exitCode === 'number' ? exitCode : undefined,
          stdout,
          stderr,
        });
      },
    );
  });
}
