import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAtLeast } from '../../base/program-version.ts';
import { findCodex, oldestCodex } from './program.ts';

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-codex-')));
  mkdirSync(join(root, 'bin'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

function program(path: string, script = ''): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Makes a program that prints this version. */
const ownCodex = (version: string): string =>
  program(join(root, 'bin/codex'), `echo "codex-cli ${version}"`);

test('a program on the search path takes precedence over the installed program', async () => {
  const path = ownCodex('0.170.1');
  const found = await findCodex(`/nowhere:${join(root, 'bin')}`);
  expect(found).toEqual({ path, version: '0.170.1' });
});

test('if the program on the search path is too old, the program installed with Liminal is used', async () => {
  ownCodex('0.168.9');
  expect(await findCodex(join(root, 'bin'))).toEqual(installed);
});

test('the script that npm puts on the path is replaced by the program itself', async () => {
  const scope = join(root, 'lib/node_modules/@openai');
  const script = program(join(scope, 'codex/bin/codex.js'));
  const own = join(scope, `codex-${process.platform}-${process.arch}`);
  const path = program(join(own, 'vendor/some-target/bin/codex'));
  writeFileSync(join(own, 'package.json'), '{}');
  writeFileSync(join(scope, 'codex/package.json'), '{"version":"9.8.7","name":"@openai/codex"}');
  symlinkSync(script, join(root, 'bin/codex'));
  expect(await findCodex(join(root, 'bin'))).toEqual({ path, version: '9.8.7' });
});

test.each([
  ['cannot be run', (path: string) => writeFileSync(path, 'not executable')],
  ['fails', (path: string) => void program(path, 'exit 1')],
  ['prints no version', (path: string) => void program(path, 'echo hello')],
  ['is a script without its program', (path: string) => symlinkSync(program(`${path}.js`), path)],
])('a program that %s is skipped', async (_, make) => {
  make(join(root, 'bin/codex'));
  expect(await findCodex(join(root, 'bin'))).toEqual(installed);
});

/** Returns the program that npm has installed with Liminal. */
const installed = {
  path: expect.stringContaining(`codex-${process.platform}-${process.arch}`),
  version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
};

test.each([
  ['0.169.0', true],
  ['0.169.0-alpha.3', true],
  ['0.200.0', true],
  ['1.0.0', true],
  ['0.168.12', false],
  ['0.0.9', false],
])('a version is accepted if it is new enough: %s', (version, fits) => {
  expect(isAtLeast(version, oldestCodex)).toBe(fits);
});
