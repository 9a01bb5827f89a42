import { takeOwnEnvironment } from '../../packages/cli/bin/own-environment.js';
import { complain } from './complain.mjs';
import { prepare } from './prepare.mjs';
import { root } from './root.mjs';
import { runOwnNode } from './run-own-node.mjs';

/**
 * Runs Liminal as `npm start` and `./liminal` do: first installs and builds what is missing. Sets the exit code.
 * @param {string[]} args
 */
export async function start(args) {
  // Remove Liminal's own variables from this process's environment: installing and building do not need their secrets,
  // and this process keeps running.
  const own = takeOwnEnvironment();
  try {
    await prepare(root);
    process.exitCode = await runOwnNode(root, ['packages/cli/bin/liminal.js', ...args], own);
  } catch (error) {
    complain(error);
    process.exitCode = 1;
  }
}
