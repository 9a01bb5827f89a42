import { atLength } from '@liminal/testkit/at-length';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { editTool } from '../../src/own/tools/edit.ts';
import { listTool } from '../../src/own/tools/list.ts';
import { findPlace, openFile, openParent } from '../../src/own/tools/project/project-path.ts';
import { putText } from '../../src/own/tools/project/text-file.ts';
import { readTool } from '../../src/own/tools/read.ts';
import { searchTool } from '../../src/own/tools/search.ts';
import { findRipgrep } from '../../src/own/tools/search/ripgrep.ts';
import { ToolError } from '../../src/own/tools/tool-error.ts';
import { writeTool } from '../../src/own/tools/write.ts';
import { call, contentOf, makeProject, refusal, type Project, nothingHidden } from './project.ts';
import { startRacer } from './racer.ts';

/** For each file tool, a way to access a file. */
const ways: Record<string, (project: Project, path: string) => Promise<unknown>> = {
  read: (project, path) => call(readTool(nothingHidden), project, { path }),
  write: (project, path) => call(writeTool(nothingHidden), project, { path, content: 'CHANGED' }),
  edit: (project, path) =>
    call(editTool(nothingHidden), project, { path, oldText: 'SECRET', newText: 'CHANGED' }),
  list: (project, path) => call(listTool(nothingHidden), project, { path, depth: 3 }),
  'search with ripgrep': (project, path) =>
    call(searchTool(nothingHidden), project, { path, pattern: 'S' }),
  'search without ripgrep': (project, path) => {
    const tool = searchTool(nothingHidden, { findProgram: async () => undefined });
    return call(tool, project, { path, pattern: 'S' });
  },
};

beforeAll(async () => {
  expect(await findRipgrep(undefined)).toBeDefined();
});

/**
 * The number of attempts with each tool while a racer runs; small for the search without ripgrep, which starts a thread
 * each time.
 */
const roundsOf = (name: string): number =>
  (name === 'search without ripgrep' ? 2 : 25) * (atLength ? 4 : 1);

describe.each(Object.entries(ways))('%s', (name, use) => {
  test('cannot lead out of the project', async () => {
    const project = await makeProject();
    const { dir, outside } = project;
    mkdirSync(join(dir, 'src'));
    symlinkSync(join(outside, 'secret.txt'), join(dir, 'file-link'));
    symlinkSync(outside, join(dir, 'folder-link'));
    symlinkSync('../outside', join(dir, 'relative-link'));
    symlinkSync('folder-link', join(dir, 'link-to-link'));
    symlinkSync('/', join(dir, 'root'));
    symlinkSync('../outside/new.txt', join(dir, 'dangling'));
    symlinkSync('circle', join(dir, 'circle'));
    const before = contentOf(outside);
    for (const path of [
      '../outside/secret.txt',
      '..',
      '../',
      'src/../../outside/secret.txt',
      './../outside',
      join(outside, 'secret.txt'),
      outside,
      '/',
      '/etc/passwd',
      `${dir}/../outside/secret.txt`,
      `${dir}-other/a`,
      'file-link',
      'folder-link',
      'folder-link/secret.txt',
      'root/etc/passwd',
      'relative-link/secret.txt',
      'link-to-link/secret.txt',
      'dangling',
      'dangling/a',
      'circle',
      'circle/a',
      'folder-link/new/deep.txt',
      '~',
      '~/.bashrc',
      '~root/.bashrc',
      '~nobody',
    ]) {
      expect(await refusal(use(project, path)), path).toMatch(
        /leads out of the project|broken link|in a home folder|circle of links/,
      );
    }
    expect(contentOf(outside)).toEqual(before);
    expect(readdirSync(join(dir, 'src'))).toEqual([]);
  });

  test('rejects invalid paths', async () => {
    const project = await makeProject();
    const long = 'x'.repeat(300);
    for (const path of [
      'a\0b',
      '\0',
      `${project.dir}/a\0/../../outside/secret.txt`,
      long,
      `${long}/a`,
      'x/'.repeat(3_000),
      'ä'.repeat(200),
    ]) {
      expect(await refusal(use(project, path)), path).toMatch(/NUL|too long/);
    }
    expect(readdirSync(project.dir)).toEqual([]);
  });

  test('rejects pipes, sockets and devices without waiting for them', async () => {
    const project = await makeProject();
    execFileSync('mkfifo', [join(project.dir, 'pipe')]);
    symlinkSync('/dev/zero', join(project.dir, 'zero'));
    symlinkSync('pipe', join(project.dir, 'link-to-pipe'));
    for (const path of ['pipe', 'zero', 'link-to-pipe', '/dev/zero', 'pipe/a']) {
      expect(await refusal(use(project, path)), path).toMatch(
        /is not a file, but|leads out|is not a folder/,
      );
    }
  });

  test('accesses nothing outside of the project while a folder is swapped with a link that leads out', async () => {
    const project = await makeProject();
    project.write('sub/secret.txt', 'SAFE SECRET SAFE\n'.replaceAll('SECRET', 'S'));
    const before = contentOf(project.outside);
    await startRacer(join(project.dir, 'sub'), project.outside);
    const seen = new Set<string>();
    for (let round = 0; round < roundsOf(name); round++) {
      for (const path of ['sub/secret.txt', 'sub', 'sub/deep/new.txt', '.']) {
        seen.add(await outcome(use(project, path)));
      }
    }
    expect([...seen].filter((one) => one.includes('SECRET'))).toEqual([]);
    expect(contentOf(project.outside)).toEqual(before);
    expect(readdirSync(project.outside)).toEqual(['secret.txt']);
  });

  test('accesses nothing outside of the project while a file is swapped with a link that leads out', async () => {
    const project = await makeProject();
    project.write('a.txt', 'SAFE\n');
    const before = contentOf(project.outside);
    await startRacer(join(project.dir, 'a.txt'), join(project.outside, 'secret.txt'));
    const seen = new Set<string>();
    for (let round = 0; round < 2 * roundsOf(name); round++) {
      for (const path of ['a.txt', '.']) seen.add(await outcome(use(project, path)));
    }
    expect([...seen].filter((one) => one.includes('SECRET'))).toEqual([]);
    expect(contentOf(project.outside)).toEqual(before);
  });
});

/** The text that the model gets, from a successful or a rejected call. */
async function outcome(calling: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await calling);
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
}

describe('.git', () => {
  test.each(['.git/config', '.git/hooks/pre-commit', '.GIT/config', 'sub/.git/hooks/x', '.git'])(
    'is not written: %s',
    async (path) => {
      const project = await makeProject();
      project.write('.git/config', 'SECRET');
      const write = call(writeTool(nothingHidden), project, { path, content: 'x' });
      const edit = call(editTool(nothingHidden), project, {
        path,
        oldText: 'SECRET',
        newText: 'x',
      });
      expect(await refusal(write)).toContain('belongs to git');
      expect(await refusal(edit)).toContain('belongs to git');
      expect(Object.keys(contentOf(project.dir))).toEqual([join(project.dir, '.git/config')]);
    },
  );

  test('cannot be written through a link, or with invisible characters in its name', async () => {
    const project = await makeProject();
    mkdirSync(join(project.dir, '.git/hooks'), { recursive: true });
    symlinkSync('.git/hooks', join(project.dir, 'hooks'));
    for (const path of ['hooks/pre-commit', '.g\u200cit/config', '.\uff47it/config']) {
      const write = call(writeTool(nothingHidden), project, { path, content: 'x' });
      expect(await refusal(write)).toContain('belongs to git');
    }
  });

  test('can be read, and files with similar names can also be written', async () => {
    const project = await makeProject();
    project.write('.git/HEAD', 'ref: main\n');
    expect((await call(readTool(nothingHidden), project, { path: '.git/HEAD' })).output).toContain(
      'ref: main',
    );
    for (const path of ['.gitignore', '.github/a.yml', 'a.git/b']) {
      await call(writeTool(nothingHidden), project, { path, content: 'x' });
      expect(project.read(path)).toBe('x');
    }
  });
});

test('files whose names only resemble home folders can be used', async () => {
  const project = await makeProject();
  for (const path of ['./~', './~root/a', 'a~', '~$a.doc', '...', '..a/b', ' ', '-n', 'a\nb']) {
    await call(writeTool(nothingHidden), project, { path, content: 'mine' });
    expect((await call(readTool(nothingHidden), project, { path })).output).toContain('mine');
  }
});

test('without descriptors of open folders, opened files are checked again', async () => {
  const project = await makeProject();
  project.write('sub/secret.txt', 'SAFE\n');
  await startRacer(join(project.dir, 'sub'), project.outside);
  const seen = new Set<string>();
  for (let round = 0; round < 500; round++) {
    const reading = async () => {
      const place = findPlace(project.folders, 'sub/secret.txt', nothingHidden);
      const { handle } = await openFile(place, { byNumber: false });
      const text = await handle.readFile('utf8');
      await handle.close();
      return text;
    };
    seen.add(await outcome(reading()));
  }
  expect([...seen].filter((one) => one.includes('SECRET'))).toEqual([]);
});

test('without descriptors of open folders, an opened file is rejected if its name now leads to another file', async () => {
  const project = await makeProject();
  project.write('sub/secret.txt', 'SAFE\n');
  const place = findPlace(project.folders, 'sub/secret.txt', nothingHidden);
  const folder = await openParent(place, { byNumber: false });
  const outside = await open(join(project.outside, 'secret.txt'));
  // Simulates a link that replaced the folder for a short moment.
  const checking = folder.checkFile(outside, 'secret.txt', 'sub/secret.txt');
  expect(await refusal(checking)).toContain('was moved');
  await outside.close();
  await folder.close();
});

test('no tool can write a file in .git', async () => {
  const project = await makeProject();
  const place = findPlace(project.folders, '.git/config', nothingHidden);
  expect(await refusal(putText(place, 'x', undefined))).toContain('belongs to git');
  expect(readdirSync(project.dir)).toEqual([]);
});

test('rejected calls close all their descriptors', async () => {
  const project = await makeProject();
  writeFileSync(join(project.dir, 'binary'), '\0');
  linkSync(join(project.dir, 'binary'), join(project.dir, 'again'));
  const count = () => readdirSync('/proc/self/fd').length;
  await refusal(call(readTool(nothingHidden), project, { path: 'binary' }));
  const before = count();
  for (let round = 0; round < 4; round++) {
    for (const use of Object.values(ways)) {
      for (const path of ['binary', 'gone/a', 'again/a', '.', '..']) {
        await outcome(use(project, path));
      }
    }
  }
  expect(count()).toBeLessThan(before + 5);
});
