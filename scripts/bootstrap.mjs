// What `npm start` and `npm test` run first, on a machine that may have nothing but Node 20 and npm:
// plain JavaScript without dependencies. Everything after it is TypeScript on the repo's own Node.
import { chromium } from './bootstrap/chromium.mjs';
import { compileServer } from './bootstrap/compiled.mjs';
import { install } from './bootstrap/install.mjs';
import { root } from './bootstrap/root.mjs';
import { runOwnNode } from './bootstrap/run-own-node.mjs';
import { testServices } from './bootstrap/services.mjs';
import { buildWeb } from './bootstrap/web.mjs';

const commands = {
  /** @param {string[]} args */
  async start(args) {
    await install(root);
    await buildWeb(root);
    await compileServer(root);
    return runOwnNode(root, ['packages/cli/bin/liminal.js', ...args]);
  },

  async test() {
    try {
      await install(root);
      const browser = await chromium();
      await testServices();
      await buildWeb(root);
      return await runOwnNode(root, ['scripts/checks.ts'], { CHROMIUM_PATH: browser });
    } catch (error) {
      complain(error);
      console.log('0 passed, 1 failed');
      return 1;
    }
  },
};

/** @param {unknown} error */
function complain(error) {
  console.error(error instanceof Error ? error.message : error);
}

const [command, ...args] = process.argv.slice(2);
try {
  process.exitCode = command === 'test' ? await commands.test() : await commands.start(args);
} catch (error) {
  complain(error);
  process.exitCode = 1;
}
