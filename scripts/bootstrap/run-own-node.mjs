import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';

const forwarded = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Returns the path of the repository's own Node.
 * @param {string} root
 */
export function ownNode(root) {
  return join(root, 'node_modules/.bin/node');
}

/**
 * Runs a script of the repository with the repository's own Node. As with an exec, the script has the input and output
 * of this process, and receives its signals.
 * @param {string} root
 * @param {string[]} args
 * @param {Record<string, string>} [env] Additional environment variables.
 * @returns {Promise<number>} The exit code; 128 + the signal's number if a signal ended the script.
 */
export function runOwnNode(root, args, env = {}) {
  const [script, ...rest] = args;
  const child = spawn(ownNode(root), [join(root, script ?? ''), ...rest], {
    stdio: 'inherit',
    env: { ...process.env, PATH: ownPath(root), ...env },
  });
  for (const signal of forwarded) process.on(signal, () => pass(signal, child));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']),
    );
  });
}

/**
 * Returns PATH with the repository's programs, which include its Node, before all others.
 * @param {string} root
 */
function ownPath(root) {
  return [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
}

/**
 * @param {NodeJS.Signals} signal
 * @param {import('node:child_process').ChildProcess} child
 */
function pass(signal, child) {
  // Do not pass on Ctrl-C: a terminal also sends the signal directly to the child, and a second signal would mean "stop
  // at once".
  if (signal === 'SIGINT' && process.stdin.isTTY) return;
  child.kill(signal);
}
