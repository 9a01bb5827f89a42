import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownNode } from './run-own-node.mjs';
import { run } from './run.mjs';

/** @typedef {{ version?: string, optional?: boolean, devOptional?: boolean, link?: boolean }} Entry */

/**
 * Installs the dependencies if the installed packages differ from the lockfile.
 * @param {string} root
 */
export async function install(root) {
  if (!isInstalled(root)) {
    console.error('Installing dependencies (npm install) …');
    // Both `npm install --no-save` and `npm ci` install the versions of the lockfile, but `npm ci` would first delete
    // `node_modules`. Below the level `error`, npm on Node 20 warns about each package that needs the newer Node.
    await run('npm', ['install', '--no-save', '--include=dev', '--loglevel=error'], { cwd: root });
  }
  if (ownNodeVersion(root) === undefined) await rebuildNode(root);
}

/**
 * Whether `node_modules` contains every package of the lockfile in the right version. npm writes its record of an
 * installation at the end, so an interrupted installation is not taken for a complete one.
 * @param {string} root
 */
export function isInstalled(root) {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const found = readPackages(join(root, 'node_modules/.package-lock.json'));
  if (wanted === undefined || found === undefined) return false;
  return Object.entries(wanted)
    .filter(([path]) => path.startsWith('node_modules/'))
    .every(([path, entry]) => matches(entry, found[path]));
}

/**
 * @param {Entry} wanted
 * @param {Entry | undefined} found
 */
function matches(wanted, found) {
  // Packages for other operating systems and processors may be missing.
  if (found === undefined) return wanted.optional === true || wanted.devOptional === true;
  return found.version === wanted.version;
}

/**
 * @param {string} file
 * @returns {Record<string, Entry> | undefined}
 */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * Runs the install script of the package `node` if npm did not run it: without the script, the package lacks its
 * program.
 * @param {string} root
 */
async function rebuildNode(root) {
  console.error('Installing Node 24 for this project …');
  const args = ['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error'];
  await run('npm', args, { cwd: root });
  if (ownNodeVersion(root) === undefined) {
    throw new Error(
      'The project’s own Node could not be installed. Remove node_modules, allow npm to run the ' +
        'install script of the package "node", and try again.',
    );
  }
}

/** @param {string} root */
function ownNodeVersion(root) {
  try {
    return execFileSync(ownNode(root), ['--version'], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
