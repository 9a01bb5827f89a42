import { spawn } from 'node:child_process';

/**
 * Runs a program, and waits until it ends. The program's output goes to standard error: standard output and standard
 * input belong to the command that runs afterwards.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<void>} Rejects if the program cannot start or ends with anything but 0.
 */
export function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 2, 2], ...options });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(' ')} failed (${signal ?? `code ${code}`}).`));
    });
  });
}
