// The first step of `npm start` and `npm test` on a machine that may have only Node 20 and npm. This file is therefore
// plain JavaScript without dependencies. All later steps are TypeScript and run on the repository's own Node.
import { bundleServer } from './bootstrap/bundle.mjs';
import { chromium, headlessShell } from './bootstrap/chromium.mjs';
import { complain } from './bootstrap/complain.mjs';
import { install } from './bootstrap/install.mjs';
import { needsOf } from './bootstrap/needs.mjs';
import { root } from './bootstrap/root.mjs';
import { runOwnNode } from './bootstrap/run-own-node.mjs';
import { testServices } from './bootstrap/services.mjs';
import { start } from './bootstrap/start.mjs';
import { buildWeb } from './bootstrap/web.mjs';

/** @param {string[]} only - Files or folders; empty for all. */
async function test(only) {
  try {
    await install(root);
    const needs = needsOf(root, only);
    const programs = needs.has('browser') ? await browsers() : {};
    if (needs.has('services')) await testServices();
    if (needs.has('web')) await buildWeb(root);
    if (needs.has('bundle')) await bundleServer(root);
    return await runOwnNode(root, ['scripts/checks.ts', ...only], programs);
  } catch (error) {
    complain(error);
    console.log('0 passed, 1 failed');
    return 1;
  }
}

async function browsers() {
  const browser = await chromium();
  return { CHROMIUM_PATH: browser, CHROMIUM_SHELL_PATH: await headlessShell(browser) };
}

const [command, ...args] = process.argv.slice(2);
if (command === 'test') process.exitCode = await test(args);
else await start(args);
