#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { bundleOfSources } from './bundle.js';
import { takeOwnEnvironment } from './own-environment.js';

const bundle = bundleOfSources();
// Without a bundle, and while the sources are being changed, the sources themselves run, only slower.
const isMade = existsSync(bundle);
if (isMade) enableCompileCache(`${bundle}/cache`);
const args = process.argv.slice(2);
if (args[0] === 'acp') {
  const program = isMade ? `${bundle}/acp.mjs` : '../src/acp/main.ts';
  const { main } = /** @type {typeof import('../src/acp/main.ts')} */ (await import(program));
  process.exit(await main(args.slice(1), takeOwnEnvironment()));
}
const program = isMade ? `${bundle}/program.mjs` : '../src/program.ts';
const { main } = /** @type {typeof import('../src/program.ts')} */ (await import(program));
process.exit(await main(args));
