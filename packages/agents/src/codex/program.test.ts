import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findCodex } from './program.ts';

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-codex-')));
  mkdirSync(join(root, 'bin'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

function program(path: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

test('the one on the search path comes first', async () => {
  const path = program(join(root, 'bin/codex-acp'));
  expect(await findCodex(`/nowhere:${join(root, 'bin')}`)).toEqual({ path });
});

test('the script that npm puts on the path is replaced by the program itself', async () => {
  const scope = join(root, 'lib/node_modules/@zed-industries');
  const script = program(join(scope, 'codex-acp/bin/codex-acp.js'));
  const own = `codex-acp-${process.platform}-${process.arch}`;
  const path = program(join(scope, own, 'bin/codex-acp'));
  writeFileSync(join(scope, own, 'package.json'), '{"version":"9.8.7"}');
  symlinkSync(script, join(root, 'bin/codex-acp'));
  expect(await findCodex(join(root, 'bin'))).toEqual({ path, version: '9.8.7' });
});

test('a script without its program is run itself', async () => {
  const script = program(join(root, 'lib/codex-acp.js'));
  symlinkSync(script, join(root, 'bin/codex-acp'));
  expect(await findCodex(join(root, 'bin'))).toEqual({ path: join(root, 'bin/codex-acp') });
});

test('a file that cannot be run is skipped, and the program installed with Liminal is found', async () => {
  writeFileSync(join(root, 'bin/codex-acp'), 'not executable');
  const found = await findCodex(join(root, 'bin'));
  expect(found?.path).toContain(`codex-acp-${process.platform}-${process.arch}`);
  expect(found?.version).toMatch(/^\d+\.\d+\.\d+$/);
});
