import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { takeOwnEnvironment } from '../../packages/cli/bin/own-environment.js';

/**
 * Runs `./liminal acp` in this process: an editor starts one process for each agent, and a second process for each
 * agent would double the memory. Sets the exit code.
 * @param {string[]} args - The arguments after `acp`.
 */
export async function acp(args) {
  const own = takeOwnEnvironment();
  const preparing = fileURLToPath(new URL('prepare-acp.mjs', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [preparing], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  const program = stdout.trim();
  if (status !== 0) {
    process.exitCode = 1;
  } else if (program === '') {
    // Without a bundle, the sources must run, and only the repository's own Node can run the sources.
    const { start } = await import('./start.mjs');
    Object.assign(process.env, own);
    await start(['acp', ...args]);
  } else {
    const { main } = /** @type {typeof import('../../packages/cli/src/acp/main.ts')} */ (
      await import(program)
    );
    process.exit(await main(args, own));
  }
}
