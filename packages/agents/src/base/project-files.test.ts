import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ignoredByGit, ProjectReading, repositoryOf, settingsOf } from './project-files.ts';

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
  ['is an empty device', async (path: string) => symlink('/dev/null', path)],
  ['is a link to itself', async (path: string) => symlink(path, path)],
])('a file that %s cannot be agreed to', async (_, make) => {
  const path = join(base, 'file');
  await make(path);
  const settings = settingsOf(await new ProjectReading().readAll([path, join(base, 'none')]));
  expect(settings?.problem).toBe(`These files cannot be shown whole: ${path}.`);
});

test('files that are together too long are not shown in part, and people cannot agree to them', () => {
  const found = [1, 2, 3, 4, 5].map((at) => ({ path: `/${at}`, text: 'x'.repeat(99_000) }));
  const settings = settingsOf(found);
  expect(settings?.problem).toContain('too long');
  expect(settings?.files.map(({ text }) => text)).toEqual(Array(5).fill('(not shown)'));
  expect(settingsOf(found.slice(0, 2))?.problem).toBeUndefined();
});

test('linked folders are read, each folder once', async () => {
  await mkdir(join(base, 'a/b'), { recursive: true });
  await writeFile(join(base, 'a/b/c'), '');
  await symlink('..', join(base, 'a/b/up'));
  await symlink(join(base, 'a/b'), join(base, 'link'));
  expect(await new ProjectReading().filesBelow(join(base, 'link'))).toEqual([join(base, 'link/c')]);
  expect(await new ProjectReading().filesBelow(join(base, 'none'))).toEqual([]);
});

test('a linked work tree reports the root of the main work tree', async () => {
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

test.each([
  ['a pipe', async (path: string) => void execFileSync('mkfifo', [path])],
  ['a device', async (path: string) => symlink('/dev/zero', path)],
])('a work tree whose `commondir` is %s has no main work tree', async (_, make) => {
  const tree = join(base, 'tree');
  await mkdir(join(tree, 'own'), { recursive: true });
  await writeFile(join(tree, '.git'), 'gitdir: own');
  await make(join(tree, 'own/commondir'));
  expect(await repositoryOf(tree)).toEqual({ root: tree });
});

test('reading a folder through several links stays within the limit', async () => {
  await mkdir(join(base, 'a'));
  await writeFile(join(base, 'a/0.md'), 'x'.repeat(100_000));
  for (let at = 1; at < 1_000; at += 1) await symlink('0.md', join(base, `a/${at}.md`));
  const reading = new ProjectReading();
  const paths = (await reading.filesBelow(join(base, 'a'))) ?? [];
  const found = await reading.readAll(paths);
  expect(found).toHaveLength(1_000);
  expect(found.filter(({ text }) => text !== undefined)).toHaveLength(200);
  expect(settingsOf(found)?.problem).toContain('and 780 more');
  for (let at = 2; at <= 5; at += 1)
    expect(await reading.filesBelow(join(base, 'a'))).toBeDefined();
  expect(await reading.filesBelow(join(base, 'a'))).toBeUndefined();
});

test('asking git for ignored folders runs no program that the repository configures', async () => {
  const mark = join(base, 'mark');
  const repo = join(base, 'repo');
  await mkdir(repo);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo });
  git('init', '--quiet');
  await writeFile(join(repo, '.gitignore'), 'node_modules');
  git('add', '.gitignore');
  git('update-index', '--skip-worktree', '.gitignore');
  await rm(join(repo, '.gitignore'));
  // The index names a file that only the remote has.
  for (const name of await readdir(join(repo, '.git/objects'))) {
    if (name.length === 2) await rm(join(repo, '.git/objects', name), { recursive: true });
  }
  git('config', 'core.repositoryformatversion', '1');
  git('config', 'extensions.partialClone', 'origin');
  git('config', 'remote.origin.promisor', 'true');
  git('config', 'remote.origin.url', 'ssh://a/b');
  git('config', 'core.sshCommand', `touch '${mark}'; false`);
  const paths = [join(repo, 'node_modules')];
  await ignoredByGit(repo, paths, process.env, new AbortController().signal);
  expect(await readdir(base)).toEqual(['repo']);
});

test('asking git for ignored folders does not run the repository’s file monitor', async () => {
  const mark = join(base, 'mark');
  const monitor = join(base, 'monitor');
  await writeFile(monitor, `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 });
  const repo = join(base, 'repo');
  await mkdir(repo);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo });
  git('init', '--quiet');
  await writeFile(join(repo, '.gitignore'), 'node_modules');
  git('add', '.gitignore');
  git('config', 'core.fsmonitor', monitor);
  git('update-index', '--fsmonitor');
  const paths = [join(repo, 'node_modules')];
  // Git runs the file monitor only if the index was written with a file monitor.
  git('check-ignore', ...paths);
  await rm(mark);
  const { signal } = new AbortController();
  expect(await ignoredByGit(repo, paths, process.env, signal)).toEqual(new Set(paths));
  expect(await readdir(base)).not.toContain('mark');
});

test('asking git for ignored folders ignores a repository in the environment', async () => {
  const [repo, other] = [join(base, 'repo'), join(base, 'other')];
  for (const cwd of [repo, other]) {
    await mkdir(cwd);
    execFileSync('git', ['init', '--quiet'], { cwd });
  }
  await writeFile(join(other, '.git/info/exclude'), 'node_modules');
  const env = { ...process.env, GIT_DIR: join(other, '.git'), GIT_WORK_TREE: repo };
  const paths = [join(repo, 'node_modules')];
  // Git itself would use this repository.
  execFileSync('git', ['check-ignore', ...paths], { cwd: repo, env });
  const { signal } = new AbortController();
  expect(await ignoredByGit(repo, paths, env, signal)).toEqual(new Set());
});

test('waiting for git ends at the time limit', async () => {
  execFileSync('git', ['init', '--quiet'], { cwd: base });
  execFileSync('mkfifo', [join(base, '.gitignore')]);
  const signal = AbortSignal.timeout(200);
  const paths = [join(base, 'node_modules')];
  expect(await ignoredByGit(base, paths, process.env, signal)).toEqual(new Set());
});
