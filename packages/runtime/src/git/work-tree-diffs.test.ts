import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, readdirSync, readFileSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  realpath,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ChangedFile } from '@liminal/protocol';
import { repositoryPrograms, repositorySetup } from '@liminal/testkit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Roots } from '../roots.ts';
import { diffBounds } from './compare.ts';
import { WorkTreeDiffs } from './work-tree-diffs.ts';

// Each test starts dozens of processes, which takes a while on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let base: string;
let project: string;
let diffs: WorkTreeDiffs;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'liminal-diff-')));
  project = join(base, 'code/shop');
  await mkdir(project, { recursive: true });
  await mkdir(join(base, 'home'));
  vi.stubEnv('HOME', join(base, 'home'));
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
  diffs = new WorkTreeDiffs(await Roots.open([join(base, 'code')], [join(base, 'code/.liminal')]));
});
afterEach(async () => {
  await diffs.close();
  vi.unstubAllEnvs();
  await rm(base, { recursive: true });
});

async function write(files: Record<string, string | Buffer>, below = project): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(below, path)), { recursive: true });
    await writeFile(join(below, path), text);
  }
}

const person = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
const gitIn = (cwd: string, ...args: string[]) =>
  execFileSync('git', [...person, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
const git = (...args: string[]) => gitIn(project, ...args);

function commit(below = project): void {
  gitIn(below, 'add', '-A');
  gitIn(below, 'commit', '-qm', 'All', '--allow-empty');
}

async function begin(files: Record<string, string | Buffer> = { 'a.ts': 'a\n' }): Promise<void> {
  git('init', '-q', '-b', 'main');
  await write(files);
  commit();
}

const read = async (folder = project) => diffs.read(folder);
const files = async (folder = project) => (await read(folder)).files;
/** Each changed file, by its path: the change, and the lines. */
const lines = async () =>
  Object.fromEntries(
    (await files()).map(({ path, change, hunks, unshown }) => [
      path,
      [change, ...(unshown ? [unshown] : []), ...hunks.flatMap((hunk) => hunk.lines)],
    ]),
  );
const refusal = async (folder = project) => diffs.read(folder).catch((error: Error) => error);

describe('what differs', () => {
  test('each kind of change is listed, with its lines and their numbers', async () => {
    const text = Array.from({ length: 12 }, (_, n) => `line ${n + 1}\n`).join('');
    await begin({
      'a.ts': text,
      'gone.ts': 'gone\n',
      'old name.ts': `moved\n${text}`,
      same: 's\n',
    });
    await write({ 'a.ts': text.replace('line 7\n', 'seven\n'), 'staged.ts': 'new\n' });
    git('add', 'staged.ts');
    await rm(join(project, 'gone.ts'));
    await rename(join(project, 'old name.ts'), join(project, 'new name.ts'));
    await write({ 'sub/untracked.ts': 'u\n' });
    const commitId = git('rev-parse', 'HEAD').toString().trim();
    expect(await read()).toEqual({
      root: project,
      commit: commitId,
      branch: 'main',
      files: [
        {
          path: 'a.ts',
          change: 'modified',
          added: 1,
          removed: 1,
          hunks: [
            {
              oldStart: 4,
              newStart: 4,
              lines: ' line 4| line 5| line 6|-line 7|+seven| line 8| line 9| line 10'.split('|'),
            },
          ],
        },
        {
          path: 'gone.ts',
          change: 'deleted',
          added: 0,
          removed: 1,
          hunks: [{ oldStart: 1, newStart: 1, lines: ['-gone'] }],
        },
        {
          path: 'new name.ts',
          change: 'renamed',
          oldPath: 'old name.ts',
          added: 0,
          removed: 0,
          hunks: [],
        },
        {
          path: 'staged.ts',
          change: 'added',
          added: 1,
          removed: 0,
          hunks: [{ oldStart: 1, newStart: 1, lines: ['+new'] }],
        },
        {
          path: 'sub/untracked.ts',
          change: 'untracked',
          added: 1,
          removed: 0,
          hunks: [{ oldStart: 1, newStart: 1, lines: ['+u'] }],
        },
      ] satisfies ChangedFile[],
    });
  });

  test('a file does not differ if only its time was changed, or if the file is ignored', async () => {
    await begin({ 'a.ts': 'a\n', '.gitignore': 'dist\n' });
    await write({ 'dist/a.js': 'built', 'a.ts': 'a\n' });
    await utimes(join(project, 'a.ts'), 1_000, 1_000);
    expect(await files()).toEqual([]);
  });

  test('a change that keeps the file’s size, in the same second as the commit, is found', async () => {
    await begin({ 'a.ts': 'aaa\n' });
    const { atime, mtime } = await lstat(join(project, 'a.ts'));
    const index = await lstat(join(project, '.git/index'));
    await write({ 'a.ts': 'bbb\n' });
    await utimes(join(project, 'a.ts'), atime, mtime);
    await utimes(join(project, '.git/index'), index.atime, mtime);
    // Git also compares the change time of the inode, which may be in another second.
    git('config', 'core.trustctime', 'false');
    expect(await lines()).toEqual({ 'a.ts': ['modified', '-aaa', '+bbb'] });
  });

  test('a file that was changed again after staging is shown as it is in the work tree', async () => {
    await begin();
    await write({ 'a.ts': 'b\n' });
    git('add', 'a.ts');
    await write({ 'a.ts': 'c\n' });
    expect(await lines()).toEqual({ 'a.ts': ['modified', '-a', '+c'] });
    await write({ 'a.ts': 'a\n' });
    expect(await lines()).toEqual({});
  });

  test('a file that was removed from the index but is still in the work tree is compared', async () => {
    await begin({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
    git('rm', '-q', '--cached', 'a.ts', 'b.ts');
    await write({ 'b.ts': 'bb\n' });
    expect(await lines()).toEqual({ 'b.ts': ['modified', '-b', '+bb'] });
  });

  test('a file added with git add -N is shown as added', async () => {
    await begin();
    await write({ 'later.ts': 'l\n' });
    git('add', '-N', 'later.ts');
    expect(await lines()).toEqual({ 'later.ts': ['added', '+l'] });
  });

  test('a file of a merge that is not resolved is compared with the last commit', async () => {
    await begin();
    git('checkout', '-qb', 'other');
    await write({ 'a.ts': 'other\n' });
    commit();
    git('checkout', '-q', 'main');
    await write({ 'a.ts': 'main\n' });
    commit();
    expect(() => git('merge', '-q', 'other')).toThrow(/^Command failed/);
    const [change, ...shown] = (await lines())['a.ts'] ?? [];
    expect(change).toBe('modified');
    expect(shown).toEqual(['+<<<<<<< HEAD', ' main', '+=======', '+other', '+>>>>>>> other']);
  });

  test('a renamed file with further changes is shown as one change; a new file that is not similar to the deleted file is shown as a second change', async () => {
    const text = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('');
    await begin({ 'a.ts': text, 'b.ts': 'something else\n' });
    await rm(join(project, 'a.ts'));
    await rm(join(project, 'b.ts'));
    await write({ 'c.ts': `${text}more\n`, 'd.ts': 'not at all alike, this one\n' });
    expect((await files()).map(({ path, oldPath, change }) => [change, path, oldPath])).toEqual([
      ['deleted', 'b.ts', undefined],
      ['renamed', 'c.ts', 'a.ts'],
      ['untracked', 'd.ts', undefined],
    ]);
  });

  test('a change of mode, to a program and to a link, is shown with both modes', async () => {
    await begin({ 'run.sh': 'x\n', 'link.ts': 'x\n' });
    await chmod(join(project, 'run.sh'), 0o755);
    await rm(join(project, 'link.ts'));
    await symlink('run.sh', join(project, 'link.ts'));
    expect(await files()).toMatchObject([
      { path: 'link.ts', change: 'modified', oldMode: '100644', newMode: '120000' },
      { path: 'run.sh', change: 'modified', oldMode: '100644', newMode: '100755', hunks: [] },
    ]);
    git('config', 'core.fileMode', 'false');
    expect(await files()).toMatchObject([{ path: 'link.ts' }]);
  });

  test('a missing line end at the end of a file is a change', async () => {
    await begin({ 'a.ts': 'a\n' });
    await write({ 'a.ts': 'a' });
    expect(await lines()).toEqual({
      'a.ts': ['modified', '-a', '+a', String.raw`\ No newline at end of file`],
    });
  });

  test('an emptied file is shown with its removed lines, and a new empty file is shown without lines', async () => {
    await begin({ 'a.ts': 'a\n' });
    await write({ 'a.ts': '', 'new.ts': '' });
    expect(await lines()).toEqual({ 'a.ts': ['modified', '-a'], 'new.ts': ['untracked'] });
  });
});

describe('line ends', () => {
  test('carriage returns that git would not store are not a change, unless the commit has carriage returns', async () => {
    await begin({ 'a.ts': 'a\nb\n', 'b.ts': 'a\r\nb\r\n', 'c.bin.txt': 'a\n' });
    git('config', 'core.autocrlf', 'true');
    await write({ 'a.ts': 'a\r\nB\r\n', 'b.ts': 'a\r\nB\r\n' });
    expect(await lines()).toEqual({
      'a.ts': ['modified', ' a', '-b', '+B'],
      'b.ts': ['modified', ' a\r', '-b\r', '+B\r'],
    });
    await write({ 'a.ts': 'a\r\nb\r\n', 'b.ts': 'a\r\nb\r\n' });
    expect(await lines()).toEqual({});
  });

  test('the project’s git attributes are applied', async () => {
    await begin({ '.gitattributes': '*.txt text\n*.raw -text\n*.win eol=crlf\n' });
    await write({ 'a.txt': 'a\n', 'a.raw': 'a\n', 'a.win': 'a\n' });
    commit();
    await write({ 'a.txt': 'a\r\n', 'a.raw': 'a\r\n', 'a.win': 'a\r\n' });
    expect(await lines()).toEqual({ 'a.raw': ['modified', '-a', '+a\r'] });
  });

  test('without a setting for line ends, carriage returns are a change', async () => {
    await begin();
    await write({ 'a.ts': 'a\r\n' });
    expect(await lines()).toEqual({ 'a.ts': ['modified', '-a', '+a\r'] });
  });
});

describe('what is not shown', () => {
  test('the content of a binary file, of a large file, and of a file that a filter stores is not shown', async () => {
    await begin({ 'a.png': Buffer.from([1, 0, 2]), 'big.ts': 'x\n', 'f.psd': 'pointer\n' });
    await write({ 'a.png': Buffer.from([1, 0, 3]), 'big.ts': 'y\n'.repeat(600_000) });
    await write({ '.git/info/attributes': '*.psd filter=lfs\n', 'f.psd': 'the whole content\n' });
    expect(await lines()).toEqual({
      'a.png': ['modified', 'binary'],
      'big.ts': ['modified', 'large'],
      'f.psd': ['modified', 'filtered'],
    });
  });

  test('a file with a filter is not listed if git considers the file unchanged', async () => {
    git('init', '-q', '-b', 'main');
    git('config', 'filter.x.clean', 'tr a-z A-Z');
    await write({ '.gitattributes': '*.up filter=x\n', 'a.up': 'aaa\n' });
    commit();
    expect(git('show', 'HEAD:a.up').toString()).toBe('AAA\n');
    const { mtime } = await lstat(join(project, 'a.up'));
    await utimes(join(project, '.git/index'), mtime, mtime);
    expect(await lines()).toEqual({});
  });

  test('text that is not UTF-8 is shown, and each change in the text is shown', async () => {
    await begin({ 'a.txt': Buffer.from('caf\xE9\n', 'latin1') });
    await write({ 'a.txt': Buffer.from('caf\xE8\n', 'latin1') });
    expect(await lines()).toEqual({ 'a.txt': ['modified', '-café', '+cafè'] });
  });

  test('names with special characters are listed unchanged', async () => {
    const names = ['a b', '"it\'s"', 'line\nbreak', 'größe/説明', '-rf', ':x', String.raw`b\s`];
    await begin();
    await write(Object.fromEntries(names.map((name) => [name, 'x\n'])));
    expect((await files()).map(({ path }) => path)).toEqual(names.toSorted());
    commit();
    await write(Object.fromEntries(names.map((name) => [name, 'yy\n'])));
    expect(await lines()).toEqual(
      Object.fromEntries(names.map((name) => [name, ['modified', '-x', '+yy']])),
    );
  });

  test('a file whose name is not UTF-8 is listed without its content', async () => {
    await begin();
    await writeFile(Buffer.from(`${project}/caf\xE9`, 'latin1'), 'x\n');
    expect(await lines()).toEqual({ 'caf\uFFFD': ['untracked', 'name'] });
  });

  test('if a pipe is in the place of a file, the comparison does not wait for the pipe', async () => {
    await begin();
    await rm(join(project, 'a.ts'));
    execFileSync('mkfifo', [join(project, 'a.ts')]);
    expect(await lines()).toEqual({ 'a.ts': ['modified', 'unreadable'] });
  });

  test('if a folder replaces a file, the file is shown as deleted, and the folder’s files as new', async () => {
    await begin();
    await rm(join(project, 'a.ts'));
    await mkdir(join(project, 'a.ts'));
    await write({ 'a.ts/b.ts': 'quite other\n' });
    expect(await lines()).toEqual({
      'a.ts': ['deleted', '-a'],
      'a.ts/b.ts': ['untracked', '+quite other'],
    });
  });
});

describe('bounds', () => {
  test('files beyond the limit of listed files are only counted, and tracked files are listed first', async () => {
    await begin(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`t${n}`, 'x\n'])));
    for (let n = 0; n < 30; n++) await write({ [`t${n}`]: 'changed\n', [`a${n}`]: 'new\n' });
    const few = new WorkTreeDiffs(await Roots.open([base]), { ...diffBounds, files: 16 });
    const { files: listed, unlisted } = await few.read(project);
    await few.close();
    expect(listed.map(({ change }) => change)).toEqual(Array(16).fill('modified'));
    expect(unlisted).toBe(44);
  });

  test('files beyond the limit for the content of all files are listed without content', async () => {
    await begin({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
    await write({ 'a.ts': `${'a'.repeat(90)}\n`, 'b.ts': `${'b'.repeat(90)}\n` });
    const few = new WorkTreeDiffs(await Roots.open([base]), { ...diffBounds, content: 100 });
    const { files: listed } = await few.read(project);
    await few.close();
    expect(listed).toMatchObject([
      { path: 'a.ts', added: 1 },
      { path: 'b.ts', unshown: 'limit' },
    ]);
  });
});

describe('repositories of each shape', () => {
  test('before the first commit every file is new', async () => {
    git('init', '-q', '-b', 'main');
    await write({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
    expect(await read()).toMatchObject({
      branch: 'main',
      files: [{ change: 'untracked' }, { change: 'untracked' }],
    });
    git('add', 'a.ts');
    const { commit: id, files: found } = await read();
    expect(id).toBeUndefined();
    expect(found.map(({ change }) => change)).toEqual(['added', 'untracked']);
  });

  test('a detached HEAD has a commit and no branch', async () => {
    await begin();
    git('checkout', '-q', '--detach');
    await write({ 'a.ts': 'b\n' });
    const found = await read();
    expect(found).not.toHaveProperty('branch');
    expect(found).toMatchObject({ commit: expect.any(String), files: [{ path: 'a.ts' }] });
  });

  test('for a folder in the work tree, the whole work tree is compared', async () => {
    await begin({ 'web/a.ts': 'a\n', 'b.ts': 'b\n' });
    await write({ 'web/a.ts': 'aa\n', 'b.ts': 'bb\n' });
    const found = await read(join(project, 'web'));
    expect(found.root).toBe(project);
    expect(found.files.map(({ path }) => path)).toEqual(['b.ts', 'web/a.ts']);
  });

  test('if the work tree’s top lies outside the roots, only files in the roots are shown', async () => {
    const inner = join(project, 'open');
    await begin({ 'open/a.ts': 'a\n', 'secret.ts': 's\n' });
    await write({ 'open/a.ts': 'aa\n', 'secret.ts': 'SECRET\n' });
    const narrow = new WorkTreeDiffs(await Roots.open([inner, join(project, '.git')]));
    const found = await narrow.read(inner);
    await narrow.close();
    expect(found).toMatchObject({ files: [{ path: 'open/a.ts' }], hidden: 1 });
    expect(JSON.stringify(found)).not.toContain('secret');
  });

  test('a linked worktree is compared with its own HEAD', async () => {
    await begin();
    git('worktree', 'add', '-q', '-b', 'side', '../side');
    await write({ '../side/a.ts': 'side\n' });
    const found = await read(join(base, 'code/side'));
    expect(found).toMatchObject({ branch: 'side', root: join(base, 'code/side') });
    expect(found.files.map(({ path }) => path)).toEqual(['a.ts']);
  });

  test('a submodule is compared by its commit, and the files in it are not read', async () => {
    const made = join(base, 'code/made');
    await mkdir(made);
    gitIn(made, 'init', '-q', '-b', 'main');
    await write({ 'x.ts': 'x\n' }, made);
    commit(made);
    await begin();
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', made, 'module');
    commit();
    const before = gitIn(join(project, 'module'), 'rev-parse', 'HEAD').toString().trim();
    await write({ 'module/x.ts': 'not committed\n' });
    expect(await lines()).toEqual({});
    commit(join(project, 'module'));
    const after = gitIn(join(project, 'module'), 'rev-parse', 'HEAD').toString().trim();
    await mkdir(join(project, 'nested'));
    gitIn(join(project, 'nested'), 'init', '-q');
    await write({ 'nested/y.ts': 'y\n' });
    commit(join(project, 'nested'));
    expect(await lines()).toEqual({
      module: ['modified', `-Subproject commit ${before}`, `+Subproject commit ${after}`],
      'nested/': ['untracked', 'repository'],
    });
  });

  test('a file that a sparse checkout leaves out does not differ, unless a change of the file is staged', async () => {
    await begin({ 'a.ts': 'a\n', 'out/b.ts': 'b\n', 'out/c.ts': 'c\n' });
    await write({ 'out/c.ts': 'cc\n' });
    git('add', '-A');
    git('update-index', '--skip-worktree', 'out/b.ts', 'out/c.ts');
    await rm(join(project, 'out'), { recursive: true });
    expect(await lines()).toEqual({ 'out/c.ts': ['modified', '-c', '+cc'] });
  });

  test.each([
    ['a sparse index', ['sparse-checkout', 'set', '--cone', '--sparse-index', 'in']],
    ['an index in two files', ['update-index', '--split-index']],
    ['a packed index', ['update-index', '--index-version', '4']],
  ])('%s is read', async (_name, command) => {
    await begin({ 'a.ts': 'a\n', 'out/b.ts': 'b\n' });
    git(...command);
    await write({ 'a.ts': 'aa\n' });
    expect(await lines()).toEqual({ 'a.ts': ['modified', '-a', '+aa'] });
  });

  test('a repository whose object ids are SHA-256 hashes is compared', async () => {
    git('init', '-q', '-b', 'main', '--object-format=sha256');
    await write({ 'a.ts': 'a\n' });
    expect(await lines()).toEqual({ 'a.ts': ['untracked', '+a'] });
    commit();
    await write({ 'a.ts': 'b\n', 'c.ts': 'c\n' });
    expect(await lines()).toEqual({
      'a.ts': ['modified', '-a', '+b'],
      'c.ts': ['untracked', '+c'],
    });
  });

  test('committed content that the clone lacks is reported', async () => {
    await begin();
    const id = git('rev-parse', 'HEAD:a.ts').toString().trim();
    await write({ 'a.ts': 'b\n' });
    await rm(join(project, '.git/objects', id.slice(0, 2), id.slice(2)));
    expect(await lines()).toEqual({ 'a.ts': ['modified', 'missing'] });
  });

  test('nothing is fetched for a clone that lacks some objects', async () => {
    const ran = join(base, 'ran');
    await begin();
    const id = git('rev-parse', 'HEAD:a.ts').toString().trim();
    await write({ 'a.ts': 'b\n' });
    await rm(join(project, '.git/objects', id.slice(0, 2), id.slice(2)));
    git('config', 'core.repositoryFormatVersion', '1');
    git('config', 'extensions.partialClone', 'origin');
    git('config', 'remote.origin.url', `ext::touch ${ran}`);
    git('config', 'protocol.ext.allow', 'always');
    expect(() => git('cat-file', 'blob', id)).toThrow(/^Command failed/);
    expect(existsSync(ran)).toBe(true);
    await rm(ran);
    expect(await lines()).toEqual({ 'a.ts': ['modified', 'missing'] });
    expect(existsSync(ran)).toBe(false);
  });

  test('without an index, the files are still compared', async () => {
    await begin({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
    await rm(join(project, '.git/index'));
    await write({ 'b.ts': 'bb\n' });
    expect(await lines()).toEqual({ 'b.ts': ['modified', '-b', '+bb'] });
  });
});

describe('refusals', () => {
  test.each<[string, () => Promise<void> | void, RegExp]>([
    ['a folder without a repository', () => undefined, /is not in a git repository\.$/],
    [
      'a broken repository',
      async () => {
        await begin();
        await write({ '.git/config': '[broken' });
      },
      /git says “fatal: bad config line/,
    ],
    [
      'a machine without git',
      async () => {
        await begin();
        vi.stubEnv('PATH', '/nowhere');
      },
      /git is not installed on the server\.$/,
    ],
    [
      'a commit that is not there',
      async () => {
        await begin();
        await write({ '.git/refs/heads/main': `${'1'.repeat(40)}\n` });
      },
      /cannot be compared with its last commit by git\.$/,
    ],
    [
      'an index that is a pipe',
      async () => {
        await begin();
        await rm(join(project, '.git/index'));
        execFileSync('mkfifo', [join(project, '.git/index')]);
      },
      /has a git index that cannot be read\.$/,
    ],
    [
      'a repository that names another folder as its work tree',
      async () => {
        await begin();
        git('config', 'core.worktree', base);
        await rm(join(project, 'a.ts'));
        git('config', 'core.worktree', join(base, 'home'));
      },
      /is in no git work tree\.$/,
    ],
    [
      'a repository without a work tree',
      () => void git('init', '-q', '--bare', '.'),
      /is in no git work tree\.$/,
    ],
  ])('%s is refused, with a sentence', async (_name, prepare, message) => {
    await prepare();
    expect(await refusal()).toMatchObject({
      code: 'DIFF_UNAVAILABLE',
      message: expect.stringMatching(message),
    });
  });

  test('SAFE: for a project that points to a repository outside the roots, nothing of the repository is shown', async () => {
    const secret = join(base, 'secret');
    await mkdir(secret);
    gitIn(secret, 'init', '-q');
    await write({ 'a.ts': 'SECRET\n' }, secret);
    commit(secret);
    await write({ '.git': `gitdir: ${secret}/.git\n` });
    expect(git('show', 'HEAD:a.ts').toString()).toBe('SECRET\n');
    expect(await refusal()).toMatchObject({
      code: 'DIFF_UNAVAILABLE',
      message: expect.stringMatching(/outside the folders that sessions may work in/),
    });
  });

  test('SAFE: a repository whose objects, or whose alternates, are a link to a folder outside the roots is rejected', async () => {
    const secret = join(base, 'secret');
    await mkdir(secret);
    gitIn(secret, 'init', '-q', '-b', 'main');
    await write({ 'a.ts': 'SECRET\n' }, secret);
    commit(secret);
    const id = gitIn(secret, 'rev-parse', 'HEAD').toString();
    git('init', '-q', '-b', 'main');
    await write({ '.git/refs/heads/main': id });
    await write({ '.git/objects/info/alternates': `${secret}/.git/objects\n` });
    expect(git('show', 'HEAD:a.ts').toString()).toBe('SECRET\n');
    expect(await refusal()).toMatchObject({ code: 'DIFF_UNAVAILABLE' });
    await rm(join(project, '.git/objects'), { recursive: true });
    await symlink(join(secret, '.git/objects'), join(project, '.git/objects'));
    expect(git('show', 'HEAD:a.ts').toString()).toBe('SECRET\n');
    expect(await refusal()).toMatchObject({ code: 'DIFF_UNAVAILABLE' });
  });
});

describe('SAFE: nothing outside is shown', () => {
  test('no link in the work tree is followed, and no hard link to a file in Liminal’s own folder is shown', async () => {
    await write({ token: 'SECRET' }, join(base, 'code/.liminal'));
    await write({ 'x/secret.ts': 'SECRET' }, base);
    await begin({ 'sub/secret.ts': 's\n', 'hard.ts': 'h\n', 'link.ts': 'l\n' });
    await rm(join(project, 'sub'), { recursive: true });
    await symlink(join(base, 'x'), join(project, 'sub'));
    await rm(join(project, 'hard.ts'));
    linkSync(join(base, 'code/.liminal/token'), join(project, 'hard.ts'));
    await rm(join(project, 'link.ts'));
    await symlink(join(base, 'x/secret.ts'), join(project, 'link.ts'));
    const found = await read();
    expect(JSON.stringify(found)).not.toContain('SECRET');
    expect(found.hidden).toBe(1);
    expect(await lines()).toMatchObject({
      'link.ts': ['modified', '-l', `+${base}/x/secret.ts`, expect.stringMatching(/^\\/)],
      sub: ['untracked', `+${base}/x`, expect.stringMatching(/^\\/)],
      'sub/secret.ts': ['deleted', '-s'],
    });
  });

  test('the name of Liminal’s own folder in a work tree is not shown', async () => {
    gitIn(join(base, 'code'), 'init', '-q');
    await write({ 'data/token': 'SECRET' }, join(base, 'code/.liminal'));
    await write({ 'a.ts': 'a\n' });
    const found = await read();
    expect(found.files.map(({ path }) => path)).toEqual(['shop/a.ts']);
    expect(found.hidden).toBe(1);
  });
});

describe('SAFE: no program starts that the repository names, and nothing is written', () => {
  let marker: string;

  const shell = (...commands: string[]) =>
    execFileSync('/bin/sh', ['-c', ['set -e', ...commands].join('\n')], { cwd: project });

  /** The path, time and content of each file of the repository. */
  async function snapshot(): Promise<string[]> {
    const [folder = ''] = git('rev-parse', '--absolute-git-dir').toString().split('\n');
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return Promise.all(
      paths.toSorted().map(async (path) => {
        const full = join(folder, path);
        const stat = await lstat(full);
        const content = stat.isFile() ? readFileSync(full) : '';
        return `${path} ${stat.mtimeMs} ${createHash('sha1').update(content).digest('hex')}`;
      }),
    );
  }

  beforeEach(async () => {
    marker = join(base, 'code/outside/started');
    await write({ 'outside/x': '' }, join(base, 'code'));
    await write({ prog: `#!/bin/sh\n: > '${marker}'\nexec cat\n` });
    await chmod(join(project, 'prog'), 0o755);
    shell(...repositorySetup);
  });

  test.each(Object.entries(repositoryPrograms))('%s', async (_name, { setup }) => {
    shell(...setup);
    // The index gets an old date, because git checks each file that may have changed in the second in which the index
    // was written.
    shell('find . -name index -type f -exec touch -d "1970-01-02" {} +', `rm -f '${marker}'`);
    const before = await snapshot();
    const found = await refusal();
    expect(found).toMatchObject({ files: expect.arrayContaining([]) });
    expect((found as { files: ChangedFile[] }).files.map(({ path }) => path)).toContain('a.txt');
    expect(existsSync(marker)).toBe(false);
    expect(await snapshot()).toEqual(before);
  });

  test('no program starts if all such settings are combined with aliases, pagers and a locked index', async () => {
    const settings = {
      'core.fsmonitor': './prog',
      'core.hooksPath': '.hooks',
      'core.pager': './prog',
      'core.sshCommand': './prog',
      'core.editor': './prog',
      'core.askPass': './prog',
      'diff.external': './prog',
      'diff.x.command': './prog',
      'diff.x.textconv': './prog',
      'filter.x.clean': './prog',
      'filter.x.smudge': './prog',
      'filter.x.process': './prog',
      'filter.x.required': 'true',
      'merge.x.driver': './prog',
      'gpg.program': './prog',
      'interactive.diffFilter': './prog',
      'uploadpack.packObjectsHook': './prog',
      'credential.helper': '!./prog',
      'include.path': '../more.gitconfig',
    };
    for (const [name, value] of Object.entries(settings)) git('config', name, value);
    const commands = ['rev-parse', 'ls-files', 'diff-index', 'cat-file', 'check-attr', 'config'];
    for (const name of [...commands, 'symbolic-ref']) {
      git('config', `alias.${name}`, '!./prog');
      git('config', `pager.${name}`, './prog');
    }
    await write({
      '.gitattributes': '* filter=x diff=x merge=x\n',
      'more.gitconfig': '[filter "x"]\n\tclean = ./prog\n',
      '.git/index.lock': '',
    });
    const hooks = ['post-index-change', 'fsmonitor-watchman', 'reference-transaction'];
    for (const name of hooks) {
      for (const folder of ['.hooks', '.git/hooks']) {
        await write({ [`${folder}/${name}`]: `#!/bin/sh\n: > '${marker}'\n` });
        await chmod(join(project, folder, name), 0o755);
      }
    }
    shell('touch -d "1970-01-02" .git/index', `rm -f '${marker}'`);
    const before = await snapshot();
    const found = await read();
    expect(found.files).toContainEqual(
      expect.objectContaining({ path: 'a.txt', change: 'modified', unshown: 'filtered' }),
    );
    expect(existsSync(marker)).toBe(false);
    expect(await snapshot()).toEqual(before);
    // Git itself runs the repository's programs; this shows that the test can fail.
    await rm(join(project, '.git/index.lock'));
    expect(existsSync(marker)).toBe(false);
    shell('git diff >/dev/null 2>&1 || true');
    expect(existsSync(marker)).toBe(true);
  });

  test('a program named git in the project does not run', async () => {
    await write({ git: `#!/bin/sh\n: > '${marker}'\n` });
    await chmod(join(project, 'git'), 0o755);
    vi.stubEnv('PATH', `.:${process.env['PATH']}`);
    expect((await files()).map(({ path }) => path)).toContain('git');
    expect(existsSync(marker)).toBe(false);
  });
});
