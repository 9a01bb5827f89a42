import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repositoryPrograms, repositorySetup } from '@liminal/testkit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Bounds, defaultBounds } from './bounds.ts';
import { listFiles } from './list-files.ts';

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'liminal-list-')));
  vi.stubEnv('HOME', join(folder, '..', 'nobody'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

async function write(files: Record<string, string>, below = folder): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(below, path)), { recursive: true });
    await writeFile(join(below, path), text);
  }
}

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

const commit = () => {
  git('add', '-A');
  git('commit', '-qm', 'All');
};

const list = async (bounds: Partial<Bounds> = {}, hidden: string[] = [], place = folder) => {
  const { signal } = new AbortController();
  const listing = await listFiles(place, hidden, { ...defaultBounds, ...bounds }, signal);
  return { ...listing, files: listing.files.toSorted() };
};

describe('in a git work tree', () => {
  beforeEach(() => git('init', '-q'));

  test('tracked and new files are listed, but ignored and deleted files are not', async () => {
    await write({
      '.gitignore': 'dist\n*.log\n!keep.log\n',
      'src/a.ts': 'a',
      'src/gone.ts': 'b',
      'keep.log': '',
    });
    commit();
    await write({ 'dist/a.js': '', 'a.log': '', 'src/new.ts': '', 'node_modules/x/index.js': '' });
    await rm(join(folder, 'src/gone.ts'));
    expect(await list()).toMatchObject({
      files: ['.gitignore', 'keep.log', 'src/a.ts', 'src/new.ts'],
      isWhole: true,
    });
  });

  test('unusual names are listed unchanged', async () => {
    const names = [
      'a b.ts',
      'it\'s "it".ts',
      'line\nbreak.ts',
      'größe/説明.md',
      ' x',
      '-rf',
      'H x',
    ];
    await write(Object.fromEntries(names.map((name) => [name, ''])));
    expect((await list()).files).toEqual(names.toSorted());
    commit();
    expect((await list()).files).toEqual(names.toSorted());
  });

  test('changed files are listed, the newest first', async () => {
    await write({ 'a.ts': 'a', 'b.ts': 'b', 'c.ts': 'c' });
    commit();
    await write({ 'b.ts': 'bb', 'new.ts': '', 'staged.ts': '' });
    git('add', 'staged.ts');
    await utimes(join(folder, 'new.ts'), 3_000, 3_000);
    await utimes(join(folder, 'staged.ts'), 2_000, 2_000);
    await utimes(join(folder, 'b.ts'), 1_000, 1_000);
    expect((await list()).changed).toEqual(['new.ts', 'staged.ts', 'b.ts']);
  });

  test('for a folder in the work tree, only its own files are listed, with paths relative to the folder', async () => {
    await write({ 'a.ts': '', 'web/b.ts': 'b' });
    commit();
    await write({ 'web/b.ts': 'bb' });
    const { files, changed } = await list({}, [], join(folder, 'web'));
    expect({ files, changed }).toEqual({ files: ['b.ts'], changed: ['b.ts'] });
  });

  test('a folder that git ignores is walked', async () => {
    await write({ '.gitignore': 'play\n', 'play/a.ts': '' });
    expect((await list({}, [], join(folder, 'play'))).files).toEqual(['a.ts']);
  });

  test('git’s own variables in the server’s environment are ignored', async () => {
    await write({ 'a.ts': '' });
    vi.stubEnv('GIT_DIR', '/nowhere');
    vi.stubEnv('GIT_WORK_TREE', '/nowhere');
    // A walk of the folder without git would also find the file, but it would find no change.
    expect(await list()).toMatchObject({ files: ['a.ts'], changed: ['a.ts'] });
  });

  test('programs that the repository’s settings name are not run', async () => {
    const ran = join(folder, 'ran');
    const program = join(folder, 'program');
    await write({
      program: `#!/bin/sh\ntouch ${ran}\ncat\n`,
      'a.ts': 'a',
      'b.ts': 'b',
      '.gitattributes': '* filter=evil\n',
    });
    await chmod(program, 0o755);
    commit();
    await write({ '.git/hooks/post-index-change': `#!/bin/sh\ntouch ${ran}\n` });
    await chmod(join(folder, '.git/hooks/post-index-change'), 0o755);
    for (const setting of [
      'core.fsmonitor',
      'core.pager',
      'pager.ls-files',
      'core.sshCommand',
      'diff.external',
      'filter.evil.clean',
    ]) {
      git('config', setting, program);
    }
    git('config', 'alias.ls-files', `!${program}`);
    git('config', 'filter.evil.required', 'true');
    await write({ 'b.ts': 'bb' });
    // The files are newer than the index, so only the filter on their content shows whether they were changed.
    await utimes(join(folder, '.git/index'), 1_000, 1_000);
    // Without protection, git runs the program; this shows that the test can fail.
    for (const asked of [['ls-files'], ['-c', 'core.fsmonitor=false', 'diff-index', 'HEAD']]) {
      git(...asked);
      expect(existsSync(ran), asked.join(' ')).toBe(true);
      await rm(ran);
    }
    git('config', 'filter.evil.process', program);
    const { files, changed } = await list();
    expect(files).toEqual(['.gitattributes', 'a.ts', 'b.ts', 'program']);
    expect(changed).toContain('b.ts');
    expect(existsSync(ran)).toBe(false);
  });

  test('nothing is fetched for a partial clone', async () => {
    const ran = join(folder, 'ran');
    await write({ 'a.ts': 'a' });
    commit();
    const tree = git('rev-parse', 'HEAD^{tree}').toString().trim();
    await rm(join(folder, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    git('config', 'core.repositoryFormatVersion', '1');
    git('config', 'extensions.partialClone', 'origin');
    git('config', 'remote.origin.url', `ext::touch ${ran}`);
    git('config', 'protocol.ext.allow', 'always');
    expect(() => git('diff-index', 'HEAD')).toThrow(/^Command failed/);
    expect(existsSync(ran)).toBe(true);
    await rm(ran);
    expect((await list()).files).toEqual(['a.ts']);
    expect(existsSync(ran)).toBe(false);
  });

  test('a program named git in the project is not run', async () => {
    const ran = join(folder, '..', `ran-${process.pid}`);
    await write({ git: `#!/bin/sh\ntouch ${ran}\n` });
    await chmod(join(folder, 'git'), 0o755);
    vi.stubEnv('PATH', `.:${process.env['PATH']}`);
    expect((await list()).files).toEqual(['git']);
    expect(existsSync(ran)).toBe(false);
  });

  test('if the repository is broken, its folder is walked', async () => {
    await write({ 'a.ts': '', '.git/config': '[broken' });
    expect((await list()).files).toEqual(['a.ts']);
  });

  test('a long list is cut and marked as incomplete, and new files do not displace tracked files', async () => {
    await write({ 'src/a.ts': '', 'src/b.ts': '' });
    commit();
    await write(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}.ts`, ''])));
    const { files, isWhole } = await list({ files: 10 });
    expect({ count: files.length, isWhole }).toEqual({ count: 7, isWhole: false });
    expect(files).toEqual(expect.arrayContaining(['src/a.ts', 'src/b.ts']));
    commit();
    const tracked = await list({ files: 10 });
    expect(tracked).toMatchObject({ isWhole: false, files: { length: 10 } });
  });

  test('a git process that does not answer is ended in time', async () => {
    execFileSync('mkfifo', [join(folder, '.git/info/pipe')]);
    git('config', 'core.excludesFile', join(folder, '.git/info/pipe'));
    await write({ 'a.ts': '' });
    expect((await list({ time: 200, changedTime: 200 })).files).toEqual(['a.ts']);
  });
});

/** A git that writes an included file of the project just before it compares files. */
const changingGit = (project: string, path = process.env['PATH']) => `#!/bin/sh
case "$*" in *diff-index*)
  printf '[filter "x"]\\n\\tclean = ./prog\\n' > '${project}/shared.gitconfig'
esac
PATH='${path}' exec git "$@"
`;

describe('SAFE: programs that the repository names are not started', () => {
  let project: string;
  let marker: string;

  const person = (...commands: string[]) =>
    execFileSync('/bin/sh', ['-c', ['set -e', ...commands].join('\n')], { cwd: project });

  beforeEach(async () => {
    project = join(folder, 'project');
    marker = join(folder, 'outside/started');
    await write({
      'home/x': '',
      'outside/x': '',
      'project/prog': `#!/bin/sh\n: > '${marker}'\nexec cat\n`,
    });
    await chmod(join(project, 'prog'), 0o755);
    vi.stubEnv('HOME', join(folder, 'home'));
    vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
    person(...repositorySetup);
  });

  /** Makes git treat each file as possibly changed in the second in which git last looked at it. */
  const ageIndexes = () =>
    person(
      'find . -name index -type f -exec touch -d "1970-01-02" {} +',
      'cd ..; rm -f outside/started',
    );

  test.each(Object.entries(repositoryPrograms))('%s', async (_name, { setup }) => {
    person(...setup);
    ageIndexes();
    const { files } = await list({}, [], project);
    expect(files).toContain('a.txt');
    expect(existsSync(marker)).toBe(false);
  });

  test('a filter is not run even if an included file that names it is written at that moment', async () => {
    person(
      'git config include.path ../shared.gitconfig; echo "* filter=x" > .gitattributes; git add .gitattributes',
    );
    await write({ 'bin/git': changingGit(project) });
    await chmod(join(folder, 'bin/git'), 0o755);
    vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH']}`);
    ageIndexes();
    const { files, changed } = await list({}, [], project);
    expect(existsSync(join(project, 'shared.gitconfig'))).toBe(true);
    expect(files).toContain('a.txt');
    expect(changed).toContain('.gitattributes');
    expect(existsSync(marker)).toBe(false);
  });

  test.each([
    ['an index in two files', 'git update-index --split-index'],
    ['an index with a path of each kind', 'git update-index --index-version 4'],
  ])('%s is compared', async (_name, command) => {
    person(command, 'echo more >> sub/b.txt');
    expect((await list({}, [], project)).changed).toContain('sub/b.txt');
  });

  test('a pipe in place of the index does not block', async () => {
    person('rm .git/index; mkfifo .git/index');
    const { files, changed } = await list({ time: 200 }, [], project);
    expect(files).toContain('a.txt');
    expect(changed).toEqual([]);
  });
});

describe('without git', () => {
  test('the folder is walked, and the rules of .gitignore files apply in their folders', async () => {
    await write({
      '.gitignore': 'dist/\n*.log\n/top.ts\n',
      'top.ts': '',
      'a.ts': '',
      'dist/a.js': '',
      'sub/top.ts': '',
      'sub/a.log': '',
      'sub/.gitignore': '!a.log\nlocal\n',
      'sub/local/x.ts': '',
      'local/y.ts': '',
      'node_modules/x/index.js': '',
      '.hg/store': '',
    });
    expect(await list()).toEqual({
      files: ['.gitignore', 'a.ts', 'local/y.ts', 'sub/.gitignore', 'sub/a.log', 'sub/top.ts'],
      changed: [],
      isWhole: true,
    });
  });

  test('links to folders are not followed, and a pipe named .gitignore does not block', async () => {
    await write({ 'a.ts': '' });
    await symlink('/', join(folder, 'out'));
    execFileSync('mkfifo', [join(folder, '.gitignore')]);
    expect((await list()).files.filter((path) => path.startsWith('out/'))).toEqual([]);
    expect((await list()).files).toContain('a.ts');
  });

  test('the folder is also walked if git is not installed', async () => {
    git('init', '-q');
    await write({ 'a.ts': '' });
    vi.stubEnv('PATH', '/nowhere');
    expect((await list()).files).toEqual(['a.ts']);
  });

  test('a long list is cut and marked as incomplete', async () => {
    await write(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n % 3}/${n}.ts`, ''])));
    const { files, isWhole } = await list({ files: 10 });
    expect({ count: files.length, isWhole }).toEqual({ count: 10, isWhole: false });
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    expect(await list()).toMatchObject({ isWhole: false });
  });

  test('a folder that must not be shown is left out', async () => {
    await write({ 'a.ts': '', 'data/token': '', 'data-too/a.ts': '' });
    expect((await list({}, ['data/'])).files).toEqual(['a.ts', 'data-too/a.ts']);
  });

  test('a folder that cannot be read, or that no longer exists, is shown as empty', async () => {
    expect((await list({}, [], join(folder, 'gone'))).files).toEqual([]);
  });
});
