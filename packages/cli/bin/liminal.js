#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { bundleOfSources } from './bundle.js';

const bundle = bundleOfSources();
// Where none could be made, and while someone works on the sources, these serve as well, only slower.
const isMade = existsSync(bundle);
if (isMade) enableCompileCache(`${bundle}/cache`);
const program = isMade ? `${bundle}/program.mjs` : '../src/program.ts';
const { main } = /** @type {typeof import('../src/program.ts')} */ (await import(program));
process.exit(await main(process.argv.slice(2)));
