import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { searchTool, type SearchOptions } from '../../src/own/tools/search.ts';
import { findRipgrep } from '../../src/own/tools/search/ripgrep.ts';
import { call, makeProject, refusal, nothingHidden } from './project.ts';

test('ripgrep is installed with the dependencies', async () => {
  const program = await findRipgrep(undefined);
  expect(program).toContain('node_modules/@vscode/ripgrep-');
  expect(execFileSync(program!, ['--version'], { encoding: 'utf8' })).toMatch(/^ripgrep \d/);
});

const engines: [string, SearchOptions][] = [
  ['with ripgrep', {}],
  ['without ripgrep', { findProgram: async () => undefined }],
];

describe.each(engines)('a search %s', (_name, options) => {
  const search = async (project: { dir: string }, input: object) =>
    (await call(searchTool(nothingHidden, options), project, { pattern: 'foo', ...input })).output;

  async function someFiles() {
    const project = await makeProject();
    project.write('b.txt', 'one\nfoo\r\nthree\nfour\nfive\nsix\nFoo bar foo\n');
    project.write('src/a.ts', 'foo()\n');
    project.write('src/deep/a.js', '// foo');
    project.write('empty', '');
    return project;
  }

  test('returns lines with their numbers, by file name', async () => {
    const project = await someFiles();
    expect(await search(project, {})).toBe(
      'b.txt\n2: foo\n7: Foo bar foo\n\nsrc/a.ts\n1: foo()\n\nsrc/deep/a.js\n1: // foo',
    );
    expect(await search(project, { pattern: 'nowhere' })).toBe('Nothing matches.');
  });

  test('returns surrounding lines, and marks gaps', async () => {
    const project = await someFiles();
    expect(await search(project, { path: 'b.txt', context: 1 })).toBe(
      'b.txt\n1- one\n2: foo\n3- three\n--\n6- six\n7: Foo bar foo',
    );
  });

  test('searches a folder or a file, selects files by globs, and can ignore case', async () => {
    const project = await someFiles();
    expect(await search(project, { path: 'src/deep' })).toBe('src/deep/a.js\n1: // foo');
    expect(await search(project, { path: 'b.txt', pattern: '^FOO', ignoreCase: true })).toBe(
      'b.txt\n2: foo\n7: Foo bar foo',
    );
    expect(await search(project, { glob: '*.ts' })).toBe('src/a.ts\n1: foo()');
    expect(await search(project, { glob: 'src/**/*.js' })).toBe('src/deep/a.js\n1: // foo');
    expect(await search(project, { glob: '!*.{ts,js}' })).toBe('b.txt\n2: foo\n7: Foo bar foo');
    expect(await search(project, { path: 'src', glob: 'deep/*' })).toBe('src/deep/a.js\n1: // foo');
  });

  test('leaves out hidden, ignored and binary files, and does not follow links', async () => {
    const project = await makeProject();
    for (const name of ['.env', '.git/x', 'out/x', 'a.log', 'src/b.log', 'src/c', 'seen']) {
      project.write(name, 'foo\n');
    }
    project.write('.gitignore', 'out/\n*.log\n');
    project.write('src/.gitignore', 'c\n!b.log\n');
    project.write('binary', 'foo\0\n');
    symlinkSync(project.outside, join(project.dir, 'link'));
    symlinkSync('seen', join(project.dir, 'link2'));
    expect(await search(project, { pattern: 'foo|SECRET' })).toBe(
      'seen\n1: foo\n\nsrc/b.log\n1: foo',
    );
    expect(await search(project, { path: 'link2' })).toBe('seen\n1: foo');
    expect(await search(project, { path: 'out' })).toBe('out/x\n1: foo');
  });

  test('accepts any pattern, even one that looks like an option', async () => {
    const project = await makeProject();
    project.write('a', '--version -e $(touch x) `id` \'"; -\n');
    for (const pattern of ['--version', '-e', '-', '\\$\\(touch x\\)', '`id`', `'"; -`]) {
      expect(await search(project, { pattern })).toMatch(/^a\n1: --version/);
    }
    expect(await search(project, { glob: '--files', pattern: 'x' })).toBe('Nothing matches.');
    project.write('-f', 'foo\n');
    expect(await search(project, { path: '-f' })).toBe('-f\n1: foo');
  });

  test('rejects an invalid pattern, with the reason', async () => {
    const project = await makeProject();
    project.write('a', 'foo');
    for (const pattern of ['(', '[', 'a{2,1}', 'a\nb', 'a\0']) {
      expect(await refusal(search(project, { pattern }))).toMatch(
        /The search failed: .|A pattern is for one line/,
      );
    }
  });

  test('limits the matches, the length of lines, and the total length', async () => {
    const project = await makeProject();
    project.write('a', `${'x'.repeat(3_000)}foo\n${'foo\n'.repeat(1_000)}`);
    const output = await search(project, {});
    expect(output).toContain(`1: ${'x'.repeat(400)}…\n2: foo\n`);
    expect(output).toMatch(
      /200: foo\n\n\(Only the first 200 matches are shown: search for less\.\)$/,
    );
    project.write('a', `${`foo${'y'.repeat(399)}`.padEnd(1_000, 'y')}\n`.repeat(1_000));
    expect((await search(project, {})).length).toBeLessThan(42_000);
  });

  test('a long line is never cut within a character', async () => {
    const project = await makeProject();
    project.write('a', `foo${'😀'.repeat(400)}\nfoo ${'😀'.repeat(400)}\n`);
    const output = await search(project, {});
    expect(output).toContain('…');
    expect(output.isWellFormed()).toBe(true);
  });

  test('finds files with unusual names and lines', async () => {
    const project = await makeProject();
    project.write('ä b\n"c', 'ö foo\n');
    project.write('bytes', Buffer.concat([Buffer.from('foo ä\n')]));
    expect(await search(project, { pattern: '[ö]|ä' })).toBe(
      'bytes\n1: foo ä\n\nä b\n"c\n1: ö foo',
    );
  });
});

test('if a line is too long to read, that is reported', async () => {
  const project = await makeProject();
  project.write('min.js', `${'x'.repeat(3_000_000)}foo\n`);
  const { output } = await call(searchTool(nothingHidden), project, { pattern: 'foo' });
  expect(output).toBe('min.js\n?: (a line that is too long to show)');
});

test('bytes that are not UTF-8 are found and shown', async () => {
  const project = await makeProject();
  project.write('latin1', Buffer.from('f\xfcr foo\n', 'latin1'));
  const { output } = await call(searchTool(nothingHidden), project, { pattern: 'foo' });
  expect(output).toBe('latin1\n1: f\uFFFDr foo');
});

test('a line that ripgrep reports is shown only if the file in the project contains it', async () => {
  const project = await makeProject();
  project.write('a.txt', 'SAFE\n');
  // ripgrep reports a line as if the file had been a link to a secret while ripgrep read it.
  const record = (path: string) =>
    JSON.stringify({
      type: 'match',
      data: {
        path: { text: path },
        lines: { text: 'SECRET\n' },
        line_number: 1,
        absolute_offset: 0,
      },
    });
  const program = project.write(
    '../liar',
    `#!/bin/sh\ncat <<'END'\n${record('./a.txt')}\n${record('../outside/secret.txt')}\nEND\n`,
  );
  chmodSync(program, 0o755);
  const tool = searchTool(nothingHidden, { findProgram: async () => program });
  expect((await call(tool, project, { pattern: 'S' })).output).toBe('Nothing matches.');
});

test('without ripgrep, a pattern that never finishes is ended at the time limit, and does not block other work', async () => {
  const project = await makeProject();
  project.write('a', `${'a'.repeat(40)}!\n`);
  const tool = searchTool(nothingHidden, { timeLimit: 2_000, findProgram: async () => undefined });
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 20);
  const { output } = await call(tool, project, { pattern: '(a+)+$' });
  clearInterval(timer);
  expect(output).toBe('(The time limit was reached before the rest was searched.)');
  expect(ticks).toBeGreaterThan(20);
});

test('a ripgrep that hangs is ended at the time limit, or when the turn is stopped', async () => {
  const project = await makeProject();
  const program = project.write('../slow', '#!/bin/sh\necho $$ > ../pid; exec sleep 300\n');
  chmodSync(program, 0o755);
  const findProgram = async () => program;
  const tool = searchTool(nothingHidden, { timeLimit: 1_000, findProgram });
  const { output } = await call(tool, project, { pattern: 'S' });
  expect(output).toBe('(The time limit was reached before the rest was searched.)');
  const pid = Number(project.read('../pid'));
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');

  const { signal } = stopSoon();
  const stopped = await call(
    searchTool(nothingHidden, { findProgram }),
    project,
    { pattern: 'S' },
    { signal },
  );
  expect(stopped.output).toContain('The time limit was reached');
});

function stopSoon(): AbortController {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 100);
  return abort;
}

test('the user’s own ripgrep is used if there is no other that can be run, but never one from a relative folder', async () => {
  const project = await makeProject();
  const own = project.write('bin/rg', '#!/bin/sh\n');
  chmodSync(own, 0o755);
  const folder = join(project.dir, 'bin');
  const missing = async () => {
    throw new Error('no package for this platform');
  };
  const broken = async () => ({ rgPath: join(project.dir, 'gone') });
  expect(await findRipgrep(`/nowhere:${folder}`, missing)).toBe(own);
  expect(await findRipgrep(`/nowhere:${folder}`, broken)).toBe(own);
  expect(await findRipgrep('/nowhere', missing)).toBeUndefined();
  expect(await findRipgrep(undefined, missing)).toBeUndefined();
  expect(await findRipgrep(relative(process.cwd(), folder), missing)).toBeUndefined();
});
