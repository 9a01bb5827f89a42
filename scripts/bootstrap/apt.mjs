import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { onPath } from './programs.mjs';
import { run } from './run.mjs';

/** Debian asks this program whether a package may start its services. Exit code 101 means no. */
const policy = '/usr/sbin/policy-rc.d';

/** Whether this process can install packages without asking a user. */
export function canInstall() {
  return process.getuid?.() === 0 && onPath('apt-get', process.env) !== undefined;
}

/**
 * Installs Debian packages without starting their services.
 * @param {string[]} packages
 */
export async function installPackages(packages) {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const isOurs = !existsSync(policy);
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await run('apt-get', ['update', '-qq'], options);
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options);
  } finally {
    if (isOurs) rmSync(policy);
  }
}
