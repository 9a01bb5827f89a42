import { type ChildProcess, spawn } from 'node:child_process';

interface InTerminal {
  cwd: string;
  env: NodeJS.ProcessEnv;
  size: { rows: number; cols: number };
}

/**
 * Starts a program in a pseudo-terminal of this size. The pseudo-terminal is opened by `script` (util-linux, macOS).
 * The child's standard output is the program's output; text that is written to the child's standard input is typed into
 * the program.
 */
export function spawnInTerminal(
  command: readonly string[],
  { cwd, env, size }: InTerminal,
): ChildProcess {
  const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  // `script` runs its command with the shell that the variable SHELL contains. The program itself must not see this
  // variable.
  const line = `stty rows ${size.rows} cols ${size.cols}; unset SHELL; exec ${words}`;
  const args =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', 'sh', '-c', line]
      : ['-qec', line, '/dev/null'];
  return spawn('script', args, {
    cwd,
    env: { ...env, SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}
