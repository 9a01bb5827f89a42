#!/usr/bin/env node
// The target of `./liminal` at the repository's root. CommonJS in old syntax, with the extension `.cjs`, because a Node
// that is too old must get far enough to report that.
'use strict';

const oldest = 20;
const { node } = process.versions;

if (Number(node.split('.')[0]) < oldest) {
  console.error(
    `Liminal needs Node ${oldest} or newer, and this is Node ${node}. Install a newer one (https://nodejs.org), and try again.`,
  );
  process.exitCode = 1;
} else {
  const args = process.argv.slice(2);
  if (args[0] === 'acp') void import('./bootstrap/acp.mjs').then(({ acp }) => acp(args.slice(1)));
  else void import('./bootstrap/start.mjs').then(({ start }) => start(args));
}
