// Prepares `./liminal acp` in a process of its own, because the preparation reads many files and the waiting process
// must stay small. Prints the program's path.
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
