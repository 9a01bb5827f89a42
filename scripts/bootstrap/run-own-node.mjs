import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';

const forwarded = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * The Node that the repository brings.
 * @param {string} root
 */
export function ownNode(root) {
  return join(root, 'node_modules/.bin/node');
}

/**
 * Runs a script of the repository with its own Node, in our place: same input and output, signals
 * passed on, and the exit code handed back.
 * @param {string} root
 * @param {string[]} args
 * @param {Record<string, string>} [env] Added to the environment.
 * @returns {Promise<number>} The exit code; 128 + the signal's number where one ended it.
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
 * The search path with the repository's programs, its Node among them, before all others.
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
  // Ctrl-C in a terminal reaches the child by itself; twice would mean "at once".
  if (signal === 'SIGINT' && process.stdin.isTTY) return;
  child.kill(signal);
}
