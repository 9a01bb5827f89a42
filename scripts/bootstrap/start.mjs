import { existsSync } from 'node:fs';
import { bundleOfSources } from '../../packages/cli/bin/bundle.js';
import { takeOwnEnvironment } from '../../packages/cli/bin/own-environment.js';
import { bundleServer } from './bundle.mjs';
import { complain } from './complain.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';
import { runOwnNode } from './run-own-node.mjs';
import { buildWeb } from './web.mjs';

/**
 * Runs Liminal as `npm start` and `./liminal` do: what is missing is installed and built first. Sets the exit code.
 * @param {string[]} args
 */
export async function start(args) {
  // Nothing that is installed or built on the way needs them, and this process stays.
  const own = takeOwnEnvironment();
  try {
    await install(root);
    await buildWeb(root);
    await bundleServer(root);
    const acp = `${bundleOfSources()}/acp.mjs`;
    if (args[0] === 'acp' && existsSync(acp)) {
      // An editor runs one for each agent: here it takes no second process.
      const { main } = /** @type {typeof import('../../packages/cli/src/acp/main.ts')} */ (
        await import(acp)
      );
      process.exit(await main(args.slice(1), own));
    }
    process.exitCode = await runOwnNode(root, ['packages/cli/bin/liminal.js', ...args], own);
  } catch (error) {
    complain(error);
    process.exitCode = 1;
  }
}
