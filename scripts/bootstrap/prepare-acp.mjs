// A process of its own, since it reads much and the one that waits for it is to stay small. Prints where the program is.
import { existsSync } from 'node:fs';
import { bundleOfSources } from '../../packages/cli/bin/bundle.js';
import { complain } from './complain.mjs';
import { prepare } from './prepare.mjs';
import { root } from './root.mjs';

try {
  await prepare(root);
  const program = `${bundleOfSources()}/acp.mjs`;
  if (existsSync(program)) console.log(program);
} catch (error) {
  complain(error);
  process.exitCode = 1;
}
