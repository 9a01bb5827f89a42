import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { editTool } from '../../src/own/tools/edit.ts';
import { listTool } from '../../src/own/tools/list.ts';
import { findPlace } from '../../src/own/tools/project/project-path.ts';
import { putText, readText } from '../../src/own/tools/project/text-file.ts';
import { readTool } from '../../src/own/tools/read.ts';
import { searchTool } from '../../src/own/tools/search.ts';
import { writeTool } from '../../src/own/tools/write.ts';
import { call, contentOf, makeProject, refusal, nothingHidden } from './project.ts';

const context = (projectDir: string) => ({
  projectDir,
  signal: new AbortController().signal,
  print: () => undefined,
});

describe('read', () => {
  test('returns numbered lines, and explains how to read further lines', async () => {
    const project = await makeProject();
    project.write('a.txt', 'one\ntwo\nthree\n');
    const { output } = await call(readTool(nothingHidden), project, { path: 'a.txt' });
    expect(output).toBe('     1\tone\n     2\ttwo\n     3\tthree');
    const part = await call(readTool(nothingHidden), project, {
      path: 'a.txt',
      offset: 2,
      limit: 1,
    });
    expect(part.output).toBe('     2\ttwo\n(Lines 2 to 2 of 3. To read on, set offset to 3.)');
  });

  test('accepts absolute paths in the project, even through a link to the project', async () => {
    const project = await makeProject();
    const path = project.write('a.txt', 'one\n');
    symlinkSync(project.dir, join(project.outside, 'link'));
    expect((await call(readTool(nothingHidden), project, { path })).output).toContain('one');
    const byLink = await call(readTool(nothingHidden), project, {
      path: join(project.outside, 'link/a.txt'),
    });
    expect(byLink.output).toContain('one');
  });

  test('returns text that needs several reads, and characters of several bytes', async () => {
    const project = await makeProject();
    project.write('a.txt', `${'ä€😀\n'.repeat(100_000)}end\n`);
    const { output } = await call(readTool(nothingHidden), project, {
      path: 'a.txt',
      offset: 100_000,
    });
    expect(output).toBe('100000\tä€😀\n100001\tend');
  });

  test('limits the output for a file with one very long line, and for a file with many lines', async () => {
    const project = await makeProject();
    project.write('long.txt', 'x'.repeat(50_000_000));
    const { output } = await call(readTool(nothingHidden), project, { path: 'long.txt' });
    expect(output).toBe(`     1\t${'x'.repeat(2_000)}… (49998000 more characters)`);
    project.write('many.txt', 'line\n'.repeat(10_000));
    const many = await call(readTool(nothingHidden), project, { path: 'many.txt' });
    expect(many.output).toMatch(/\(Lines 1 to 2000 of 10000\. To read on, set offset to 2001\.\)$/);
  });

  test('reports an empty file, and rejects an offset past the end with the number of lines', async () => {
    const project = await makeProject();
    project.write('empty', '');
    project.write('a.txt', 'one\n');
    expect((await call(readTool(nothingHidden), project, { path: 'empty' })).output).toBe(
      '(The file is empty.)',
    );
    expect(
      await refusal(call(readTool(nothingHidden), project, { path: 'a.txt', offset: 9 })),
    ).toBe('“a.txt” has 1 lines: there is no line 9.');
  });

  test.each([
    ['image/png', '89504e470d0a1a0a0000000d'],
    ['image/jpeg', 'ffd8ffe000104a464946'],
    ['image/gif', '47494638396101000100'],
    ['image/webp', '524946462400000057454250'],
  ])('recognizes an image by its bytes, whatever its name: %s', async (mimeType, hex) => {
    const project = await makeProject();
    const bytes = Buffer.from(hex, 'hex');
    project.write('picture.txt', bytes);
    const { blocks } = await call(readTool(nothingHidden), project, { path: 'picture.txt' });
    const data = bytes.toString('base64');
    expect(blocks).toEqual([
      { type: 'image', mimeType, data, name: 'picture.txt', size: bytes.length },
    ]);
  });

  test('rejects other binary files, images that are too large, and folders', async () => {
    const project = await makeProject();
    project.write('program', 'ELF\0\x01');
    const image = project.write('big.png', Buffer.from('89504e470d0a1a0a', 'hex'));
    // One byte more than every maker accepts in base64.
    truncateSync(image, (5 * 1024 * 1024 * 3) / 4 + 1);
    mkdirSync(join(project.dir, 'folder'));
    expect(await refusal(call(readTool(nothingHidden), project, { path: 'program' }))).toContain(
      'binary file',
    );
    expect(await refusal(call(readTool(nothingHidden), project, { path: 'big.png' }))).toContain(
      'smaller copy',
    );
    expect(await refusal(call(readTool(nothingHidden), project, { path: 'folder' }))).toContain(
      'is a folder',
    );
    expect(await refusal(call(readTool(nothingHidden), project, { path: '.' }))).toContain(
      'is a folder',
    );
    expect(await refusal(call(readTool(nothingHidden), project, { path: 'gone' }))).toContain(
      'does not exist',
    );
  });
});

describe('write', () => {
  test('creates a file and its folders, and shows the file as new, before and after the call', async () => {
    const project = await makeProject();
    const tool = writeTool(nothingHidden);
    const input = { path: 'src/deep/a.txt', content: 'one\n' };
    const path = join(project.dir, 'src/deep/a.txt');
    const face = await tool.describe(input, project.folders);
    expect(face).toEqual({
      title: 'Write src/deep/a.txt',
      locations: [{ path }],
      diffs: [{ path, newText: 'one\n' }],
    });
    expect(readdirSync(project.dir)).toEqual([]);
    const { diffs } = await tool.run(input, context(project.dir));
    expect(diffs).toEqual([{ path, newText: 'one\n' }]);
    expect(project.read('src/deep/a.txt')).toBe('one\n');
  });

  test('replaces a file, keeps its mode, and leaves no other file behind', async () => {
    const project = await makeProject();
    const path = project.write('run.sh', 'old\n');
    chmodSync(path, 0o754);
    const { diffs } = await call(writeTool(nothingHidden), project, {
      path: 'run.sh',
      content: 'new\n',
    });
    expect(diffs).toEqual([{ path, oldText: 'old\n', newText: 'new\n', oldLine: 1, newLine: 1 }]);
    expect(project.read('run.sh')).toBe('new\n');
    expect(statSync(path).mode & 0o7777).toBe(0o754);
    expect(readdirSync(project.dir)).toEqual(['run.sh']);
  });

  test('rejects a file that was changed, created or removed since people were shown the change', async () => {
    const project = await makeProject();
    const tool = writeTool(nothingHidden);
    const input = { path: 'a.txt', content: 'mine' };
    await tool.describe(input, project.folders);
    project.write('a.txt', 'theirs');
    expect(await refusal(tool.run(input, context(project.dir)))).toContain('has changed since');
    expect(project.read('a.txt')).toBe('theirs');
  });

  test.each(['folder', 'folder/', '.', 'a.txt/b', 'binary', 'locked', '.git/hooks/pre-commit'])(
    'refuses %s',
    async (path) => {
      const project = await makeProject();
      mkdirSync(join(project.dir, 'folder'));
      project.write('a.txt', 'text');
      project.write('binary', Buffer.from([0, 255]));
      chmodSync(project.write('locked', 'text'), 0o444);
      expect(
        await refusal(call(writeTool(nothingHidden), project, { path, content: 'x' })),
      ).toMatch(
        /is a folder|a part of its path is not|is not a text file|is read-only|belongs to git/,
      );
      expect(project.read('a.txt')).toBe('text');
    },
  );

  test('rejects a text that is too large', async () => {
    const project = await makeProject();
    const content = 'x'.repeat(16 * 1024 * 1024 + 1);
    expect(
      await refusal(call(writeTool(nothingHidden), project, { path: 'a', content })),
    ).toContain('16 MiB');
    expect(readdirSync(project.dir)).toEqual([]);
  });
});

describe('edit', () => {
  test('shows the change with its line, and then makes the change', async () => {
    const project = await makeProject();
    const path = project.write('a.txt', 'one\ntwo\nthree\n');
    const tool = editTool(nothingHidden);
    const input = { path: 'a.txt', oldText: 'two', newText: '2' };
    const diff = {
      path,
      oldText: 'one\ntwo\nthree\n',
      newText: 'one\n2\nthree\n',
      oldLine: 1,
      newLine: 1,
    };
    expect(await tool.describe(input, project.folders)).toEqual({
      title: 'Edit a.txt',
      locations: [{ path, line: 2 }],
      diffs: [diff],
    });
    expect(project.read('a.txt')).toBe('one\ntwo\nthree\n');
    const result = await tool.run(input, context(project.dir));
    expect(result).toEqual({ output: 'Changed a.txt in line 2.', success: true, diffs: [diff] });
    expect(project.read('a.txt')).toBe('one\n2\nthree\n');
  });

  test('keeps the byte order mark, CR LF line ends and the file’s mode', async () => {
    const project = await makeProject();
    const path = project.write('a.txt', '\uFEFFone\r\ntwo\r\n');
    chmodSync(path, 0o640);
    await call(editTool(nothingHidden), project, {
      path: 'a.txt',
      oldText: 'one\ntwo',
      newText: '1\n2',
    });
    expect(project.read('a.txt')).toBe('\uFEFF1\r\n2\r\n');
    expect(statSync(path).mode & 0o7777).toBe(0o640);
  });

  test('changes the target of a link within the project, and keeps the link', async () => {
    const project = await makeProject();
    project.write('real/a.txt', 'one');
    symlinkSync('real/a.txt', join(project.dir, 'link.txt'));
    symlinkSync('real', join(project.dir, 'folder'));
    await call(editTool(nothingHidden), project, {
      path: 'link.txt',
      oldText: 'one',
      newText: 'two',
    });
    await call(writeTool(nothingHidden), project, { path: 'folder/b.txt', content: 'b' });
    expect(project.read('real/a.txt')).toBe('two');
    expect(project.read('real/b.txt')).toBe('b');
    expect(lstatSync(join(project.dir, 'link.txt')).isSymbolicLink()).toBe(true);
  });

  test('a permission names the real folder of a file', async () => {
    const project = await makeProject();
    project.write('real/a.txt', 'one');
    symlinkSync('../real', join(project.dir, 'real/link'));
    symlinkSync('real/a.txt', join(project.dir, 'top.txt'));
    const input = { path: 'top.txt', oldText: 'one', newText: 'two' };
    expect(editTool(nothingHidden).needs(input, project.folders)).toMatchObject([
      { rule: 'edit:real/' },
    ]);
    const write = { path: 'top.txt', content: '' };
    expect(writeTool(nothingHidden).needs(write, project.folders)).toMatchObject([
      { rule: 'edit:real/' },
    ]);
  });

  test('searches the text again if the file has changed since the question', async () => {
    const project = await makeProject();
    project.write('a.txt', 'one\ntwo\n');
    const tool = editTool(nothingHidden);
    const input = { path: 'a.txt', oldText: 'two', newText: '2' };
    await tool.describe(input, project.folders);
    project.write('a.txt', 'more\none\ntwo\n');
    await tool.run(input, context(project.dir));
    expect(project.read('a.txt')).toBe('more\none\n2\n');
    project.write('a.txt', 'two two');
    expect(await refusal(tool.run(input, context(project.dir)))).toContain('occurs 2 times');
    project.write('a.txt', 'three');
    expect(await refusal(tool.run(input, context(project.dir)))).toContain('is not in');
    expect(project.read('a.txt')).toBe('three');
  });

  test('rejects a link that now leads to another file than people were shown', async () => {
    const project = await makeProject();
    project.write('a.txt', 'one');
    project.write('b.txt', 'one');
    const link = join(project.dir, 'link');
    symlinkSync('a.txt', link);
    const tool = editTool(nothingHidden);
    const input = { path: 'link', oldText: 'one', newText: 'two' };
    await tool.describe(input, project.folders);
    execFileSync('ln', ['-sfn', 'b.txt', link]);
    expect(await refusal(tool.run(input, context(project.dir)))).toContain('leads elsewhere');
    expect(project.read('b.txt')).toBe('one');
  });

  test('rejects a file that does not exist, or is not text', async () => {
    const project = await makeProject();
    project.write('latin1', Buffer.from([0xe4]));
    const edit = (path: string) =>
      refusal(call(editTool(nothingHidden), project, { path, oldText: 'x', newText: 'y' }));
    expect(await edit('gone')).toContain('To make a new file use write.');
    expect(await edit('gone/too')).toContain('To make a new file use write.');
    expect(await edit('latin1')).toContain('not a text file in UTF-8');
  });

  test.each([
    ['has changed', 'theirs'],
    ['is gone', undefined],
  ])('is not applied to a file that %s at the last moment', async (_what, theirs) => {
    const project = await makeProject();
    const path = project.write('a.txt', 'one');
    const place = findPlace(project.folders, 'a.txt', nothingHidden);
    const found = await readText(place);
    rmSync(path);
    if (theirs !== undefined) project.write('a.txt', theirs);
    const before = contentOf(project.dir);
    expect(await refusal(putText(place, 'two', found))).toContain(
      'has just been changed by others',
    );
    expect(contentOf(project.dir)).toEqual(before);
  });

  test('replaces the file atomically: a reader gets either the old or the new file', async () => {
    const project = await makeProject();
    const path = project.write('a.txt', 'one');
    linkSync(path, join(project.outside, 'same'));
    await call(editTool(nothingHidden), project, { path: 'a.txt', oldText: 'one', newText: 'two' });
    expect(project.read('../outside/same')).toBe('one');
    expect(project.read('a.txt')).toBe('two');
  });
});

describe('list', () => {
  test('lists folders and files, links as links, and hidden or ignored entries only on request', async () => {
    const project = await makeProject();
    for (const name of ['src/a.ts', 'src/deep/b.ts', 'c.md', 'out/x.js', '.env', '.git/config']) {
      project.write(name, '');
    }
    project.write('.gitignore', 'out/\n*.log\n');
    project.write('src/.gitignore', '!keep.log\n');
    project.write('src/keep.log', '');
    project.write('src/other.log', '');
    symlinkSync(project.outside, join(project.dir, 'link'));
    execFileSync('mkfifo', [join(project.dir, 'pipe')]);
    const list = async (input: object) =>
      (await call(listTool(nothingHidden), project, input)).output.split('\n');

    expect(await list({})).toEqual(['c.md', 'link (link)', 'pipe (no file)', 'src/']);
    expect(await list({ path: 'src', depth: 2 })).toEqual([
      'src/a.ts',
      'src/deep/',
      'src/deep/b.ts',
      'src/keep.log',
    ]);
    expect(await list({ hidden: true })).toEqual(
      expect.arrayContaining(['.env', '.git/', '.gitignore']),
    );
    expect(await list({ hidden: true, depth: 5 })).not.toContain('.git/config');
    expect(await list({ ignored: true })).toContain('out/');
    expect(await list({ path: 'out' })).toEqual(['out/x.js']);
  });

  test('is limited, and a note names the limit', async () => {
    const project = await makeProject();
    for (let at = 0; at < 600; at++) writeFileSync(join(project.dir, `file-${at}`), '');
    const { output } = await call(listTool(nothingHidden), project, {});
    expect(output.split('\n')).toHaveLength(501);
    expect(output).toMatch(/\(There are more than 500 entries: list a folder of these\.\)$/);
  });

  test('continues after a folder that cannot be opened', async () => {
    const project = await makeProject();
    // The folder's name is not valid UTF-8, so the decoded name does not lead to the folder.
    mkdirSync(Buffer.concat([Buffer.from(`${project.dir}/a`), Buffer.from([0xff])]));
    project.write('b/c', '');
    const { output } = await call(listTool(nothingHidden), project, { depth: 2 });
    expect(output.split('\n')).toEqual([
      'a\uFFFD/',
      'a\uFFFD/ (“a\uFFFD” does not exist.)',
      'b/',
      'b/c',
    ]);
  });

  test('rejects a path that is not a folder, and reports an empty folder', async () => {
    const project = await makeProject();
    expect((await call(listTool(nothingHidden), project, {})).output).toBe('(Nothing.)');
    project.write('a.txt', '');
    expect(await refusal(call(listTool(nothingHidden), project, { path: 'a.txt' }))).toContain(
      'is not a folder',
    );
    expect(await refusal(call(listTool(nothingHidden), project, { path: 'gone' }))).toContain(
      'does not exist',
    );
  });
});

describe('an additional folder', () => {
  const make = async () => {
    const { folders, ...project } = await makeProject();
    const beside = join(project.dir, '../beside');
    mkdirSync(beside);
    const withIt = { ...project, folders: { ...folders, additionalDirectories: [beside] } };
    return { project: withIt, beside };
  };

  test('is read, searched, listed and changed by absolute paths, while no other folder is accessible', async () => {
    const { project, beside } = await make();
    const path = join(beside, 'notes.txt');
    await call(writeTool(nothingHidden), project, { path, content: 'one\n' });
    const edit = { path, oldText: 'one', newText: 'two' };
    const changed = await call(editTool(nothingHidden), project, edit);
    expect(changed.output).toContain(`Changed ${path}`);
    expect((await call(readTool(nothingHidden), project, { path })).output).toContain('two');
    const listed = await call(listTool(nothingHidden), project, { path: beside });
    expect(listed.output).toBe(path);
    const search = { pattern: 'tw.', path: beside };
    const found = await call(searchTool(nothingHidden), project, search);
    expect(found.output).toContain(path);
    const outside = join(project.outside, 'secret.txt');
    expect(await refusal(call(readTool(nothingHidden), project, { path: outside }))).toContain(
      'leads out of the project folder',
    );
  });

  test('is not accessible after a link has replaced it', async () => {
    const { project, beside } = await make();
    rmdirSync(beside);
    symlinkSync(project.outside, beside);
    const path = join(beside, 'secret.txt');
    expect(await refusal(call(readTool(nothingHidden), project, { path }))).toContain(
      'leads out of the project folder',
    );
  });
});
