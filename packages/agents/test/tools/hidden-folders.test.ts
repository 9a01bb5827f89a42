/** Tests Liminal's own data folder, which is in the project if the project is the home folder. */
import { linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { HiddenFolders } from '../../src/base/hidden-folders.ts';
import { instructionsFor } from '../../src/own/loop/instructions.ts';
import { builtInTools, isAllowed, type Tool } from '../../src/own/tools/index.ts';
import { searchTool } from '../../src/own/tools/search.ts';
import { call, contentOf, makeProject, type Project, refusal } from './project.ts';

const secret = 'SECRET-TOKEN';
let project: Project;
let data: string;
let tools: Tool[];

beforeEach(async () => {
  project = await makeProject();
  data = join(project.dir, 'data');
  project.write('data/liminal.json', `{"token": "${secret}"}`);
  project.write('data/sub/token', secret);
  project.write('src/a.txt', 'a\n');
  symlinkSync('data', join(project.dir, 'folder-link'));
  symlinkSync('data/sub/token', join(project.dir, 'file-link'));
  symlinkSync('../folder-link/sub', join(project.dir, 'src/link-to-link'));
  linkSync(join(data, 'sub/token'), join(project.dir, 'src/hard'));
  tools = builtInTools({ hiddenFolders: [data], fetch: true });
});

const named = (name: string): Tool => tools.find((tool) => tool.name === name)!;

/** Further fields that tools with a path may need. */
const more = { content: 'CHANGED', oldText: secret, newText: 'CHANGED', pattern: '.' };

/** The tools without a path. `bash` is tested below; `plan` and `fetch` read no files. */
const withoutPath = ['bash', 'plan', 'fetch'];

describe('every tool that takes a path', () => {
  const withPath = builtInTools({ fetch: true }).filter(
    ({ input }) => input instanceof z.ZodObject && 'path' in input.shape,
  );
  const names = withPath.map(({ name }) => name);

  test('is tested, and the list of tools is complete', () => {
    const all = builtInTools({ fetch: true }).map(({ name }) => name);
    expect(all.filter((name) => !names.includes(name))).toEqual(withoutPath);
    expect(names).toEqual(['read', 'write', 'edit', 'list', 'search']);
  });

  test.each(names)('rejects files in a hidden folder: %s', async (name) => {
    const before = contentOf(data);
    const tool = named(name);
    for (const path of [
      'data',
      'data/',
      './src/../data',
      data,
      'data/liminal.json',
      'data/sub/token',
      'data/new.txt',
      'data/new/new.txt',
      join(data, 'liminal.json'),
      'folder-link',
      'folder-link/liminal.json',
      'folder-link/new.txt',
      'file-link',
      'src/link-to-link',
      'src/link-to-link/token',
    ]) {
      const input = { ...more, path };
      expect(await refusal(call(tool, project, input)), path).toContain(
        'belongs to Liminal itself',
      );
      const parsed = tool.input.parse(input);
      const context = { projectDir: project.dir, signal: new AbortController().signal, print() {} };
      expect(await refusal(tool.run(parsed, context)), path).toContain('belongs to Liminal itself');
    }
    expect(contentOf(data)).toEqual(before);
  });

  test.each(names.filter((name) => name !== 'list'))(
    'rejects a second name (hard link) of a hidden file: %s',
    async (name) => {
      const before = contentOf(data);
      const said = await refusal(call(named(name), project, { ...more, path: 'src/hard' }));
      expect(said).toContain('belongs to Liminal itself');
      expect(contentOf(data)).toEqual(before);
    },
  );

  test.each(names)(
    'shows nothing of a hidden folder that contains the whole project: %s',
    async (name) => {
      const input = { ...more, path: '.', hidden: true, ignored: true, depth: 20, glob: '**' };
      const said = await refusal(call(named(name), project, input));
      expect(said).not.toMatch(/SECRET|liminal\.json|data\/|sub/);
    },
  );
});

test('the search without ripgrep does not find a hidden file, not even by a second name', async () => {
  const tool = searchTool(new HiddenFolders([data]), { findProgram: async () => undefined });
  const { output } = await call(tool, project, { pattern: 'SECRET|^a$', glob: '**' });
  expect(output).toBe('src/a.txt\n1: a');
});

test('a project that is the hidden folder, or is inside it, shows nothing', async () => {
  for (const dir of [data, join(data, 'sub')]) {
    for (const [name, path] of [
      ['read', 'token'],
      ['list', '.'],
      ['search', '.'],
    ] as const) {
      const said = await refusal(call(named(name), { dir }, { ...more, path }));
      expect(said).toContain('belongs to Liminal itself');
    }
  }
});

test.each(['a link', 'another name'])(
  'AGENTS.md is not read if it is %s of a hidden file',
  async (how) => {
    const path = join(project.dir, 'AGENTS.md');
    if (how === 'a link') symlinkSync('data/sub/token', path);
    else linkSync(join(data, 'sub/token'), path);
    expect(await instructionsFor(project.folders, new HiddenFolders([data]))).not.toContain(secret);
    expect(await instructionsFor(project.folders, new HiddenFolders())).toContain(secret);
  },
);

describe('a file with several names', () => {
  test('is hidden if it got its second name, or was created in the folder, after an earlier scan', async () => {
    const read = async (path: string) => refusal(call(named('read'), project, { path }));
    expect(await read('src/hard')).toContain('belongs to Liminal itself');
    project.write('data/later', secret);
    linkSync(join(data, 'later'), join(project.dir, 'later'));
    expect(await read('later')).toContain('belongs to Liminal itself');
    // Replaces a file in the way in which Liminal replaces its own files.
    writeFileSync(join(project.dir, 'next'), secret);
    renameSync(join(project.dir, 'next'), join(data, 'later'));
    linkSync(join(data, 'later'), join(project.dir, 'newest'));
    expect(await read('newest')).toContain('belongs to Liminal itself');
  });

  test('is hidden if it got its second name after an earlier scan, even if the clock was set back in between', async () => {
    const read = async (path: string) => refusal(call(named('read'), project, { path }));
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: now + 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await read('src/hard')).toContain('belongs to Liminal itself');
    vi.setSystemTime(now);
    project.write('data/later', secret);
    linkSync(join(data, 'later'), join(project.dir, 'later'));
    expect(await read('later')).toContain('belongs to Liminal itself');
  });

  test('is shown if none of its names is in a hidden folder', async () => {
    linkSync(join(project.dir, 'src/a.txt'), join(project.dir, 'b.txt'));
    expect((await call(named('read'), project, { path: 'b.txt' })).output).toContain('a');
  });
});

describe('bash', () => {
  const rules = async (command: string, dir: string) =>
    (await named('bash').needs({ command }, { projectDir: dir })) ?? [];
  const granted = ['git log', 'git grep', 'git diff', 'git show'].map((name) => `command:${name}`);

  test('needs a permission for each command in a project that contains the hidden folder', async () => {
    for (const command of ['git log -p', 'git grep SECRET', 'git diff a b']) {
      for (const dir of [project.dir, data, join(data, 'sub')]) {
        expect(isAllowed(await rules(command, dir), granted), command).toBe(false);
        expect(isAllowed(await rules(command, dir), [`exact:${command}`]), command).toBe(true);
      }
    }
  });

  test('in other projects, needs a permission for a command that names the hidden folder', async () => {
    const dir = join(project.dir, 'src');
    mkdirSync(join(dir, 'other'));
    for (const command of [
      'git grep x -- link-to-link',
      'git diff link-to-link/token a.txt',
      'git show HEAD:data/liminal.json',
      'git show "HEAD:da"ta/liminal.json',
      'git log -- other/data/x',
    ]) {
      expect(isAllowed(await rules(command, dir), granted), command).toBe(false);
      expect(isAllowed(await rules(command, dir), [`exact:${command}`]), command).toBe(true);
    }
    for (const command of ['git grep x -- other', 'git show HEAD:database', 'git log --all']) {
      expect(isAllowed(await rules(command, dir), granted), command).toBe(true);
    }
  });
});
