import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { filesBelow, readAll, repositoryOf, settingsOf } from './project-files.ts';

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'liminal-project-')));
});
afterEach(() => rm(base, { recursive: true, force: true }));

test.each([
  ['is too long', async (path: string) => writeFile(path, 'x'.repeat(100_001))],
  ['is not text', async (path: string) => writeFile(path, Buffer.from([0xff, 0xfe, 0x00]))],
  ['is a pipe', async (path: string) => void execFileSync('mkfifo', [path])],
  ['is a device', async (path: string) => symlink('/dev/zero', path)],
  ['is a link in a circle', async (path: string) => symlink(path, path)],
])('a file that %s cannot be agreed to', async (_, make) => {
  const path = join(base, 'file');
  await make(path);
  const settings = settingsOf(await readAll([path, join(base, 'none')]));
  expect(settings?.problem).toBe(`These files cannot be shown whole: ${path}.`);
});

test('files that are too long together cannot be agreed to, and are not shown in part', () => {
  const found = [1, 2, 3, 4, 5].map((at) => ({ path: `/${at}`, text: 'x'.repeat(99_000) }));
  const settings = settingsOf(found);
  expect(settings?.problem).toContain('too long');
  expect(settings?.files.map(({ text }) => text)).toEqual(Array(5).fill('(not shown)'));
  expect(settingsOf(found.slice(0, 2))?.problem).toBeUndefined();
});

test('folders are read through links, each once', async () => {
  await mkdir(join(base, 'a/b'), { recursive: true });
  await writeFile(join(base, 'a/b/c'), '');
  await symlink('..', join(base, 'a/b/up'));
  await symlink(join(base, 'a/b'), join(base, 'link'));
  expect(await filesBelow(join(base, 'link'))).toEqual(
    expect.arrayContaining([join(base, 'link/c')]),
  );
  expect(await filesBelow(join(base, 'none'))).toEqual([]);
});

test('a work tree names the root of the main one', async () => {
  const repo = join(base, 'repo');
  await mkdir(join(repo, 'sub'), { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: repo });
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '--message', 'a');
  git('worktree', 'add', '--quiet', '../tree');
  expect(await repositoryOf(join(repo, 'sub'))).toEqual({ root: repo });
  expect(await repositoryOf(join(base, 'tree'))).toEqual({ root: join(base, 'tree'), main: repo });
  await writeFile(join(repo, 'sub/.git'), 'nonsense');
  expect(await repositoryOf(join(repo, 'sub'))).toEqual({ root: join(repo, 'sub') });
});
