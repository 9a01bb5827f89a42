import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FilesResult } from '@liminal/protocol';
import { testAtLength } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;
let shop: string;

beforeEach(async () => {
  server = await startServer();
  shop = join(server.folder, 'shop');
  write(['src/app.ts', 'src/cart/Cart.tsx', 'docs/how to.md', 'README.md']);
});
afterEach(() => server.close());

function write(paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(shop, path)), { recursive: true });
    writeFileSync(join(shop, path), '');
  }
}

const request = (query: Record<string, string>) =>
  rawRequest(server.port, {
    path: `/api/project/files?${new URLSearchParams(query).toString()}`,
    headers: bearer,
  });

async function find(q: string, more: Record<string, string> = {}): Promise<FilesResult> {
  const { status, text } = await request({ projectDir: shop, q, ...more });
  expect(status).toBe(200);
  return JSON.parse(text) as FilesResult;
}

const paths = async (q: string, more?: Record<string, string>) =>
  (await find(q, more)).files.map(({ path }) => path);

test('files and folders of a project are found by a few letters of their names', async () => {
  expect(await find('cart')).toEqual({
    files: [
      { path: 'src/cart/', name: 'cart' },
      { path: 'src/cart/Cart.tsx', name: 'Cart.tsx' },
    ],
  });
  expect(await paths('how to')).toEqual(['docs/how to.md']);
  expect(await paths('xyzzy')).toEqual([]);
  expect(await paths('', { limit: '2' })).toEqual(['docs/', 'README.md']);
});

test('in a git repository, ignored files are not found, and changed files come first', async () => {
  execFileSync('git', ['init', '-q'], { cwd: shop });
  writeFileSync(join(shop, '.gitignore'), 'docs\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
      cwd: shop,
    });
  git('add', '-A');
  git('commit', '-qm', 'All');
  writeFileSync(join(shop, 'src/app.ts'), 'changed');
  expect(await paths('')).toEqual(['src/app.ts', '.gitignore', 'README.md', 'src/']);
  expect(await paths('how')).toEqual([]);
});

test('links that lead out of the project are not listed, and neither are Liminal’s own files and special files', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'liminal-outside-'));
  writeFileSync(join(outside, 'find-me'), '');
  symlinkSync(join(outside, 'find-me'), join(shop, 'find-file'));
  symlinkSync(outside, join(shop, 'find-folder'));
  symlinkSync('/proc/self/environ', join(shop, 'find-environ'));
  symlinkSync('nowhere', join(shop, 'find-nowhere'));
  execFileSync('mkfifo', [join(shop, 'find-pipe')]);
  symlinkSync('src', join(shop, 'find-inside'));
  write(['find-this']);
  expect(await paths('find')).toEqual(['find-this', 'find-inside/']);
  rmSync(outside, { recursive: true });
});

test.each([
  ['a folder outside of the roots', { projectDir: '/etc' }, 403, 'PROJECT_DIR_NOT_ALLOWED'],
  [
    'a folder outside of the roots that does not exist',
    { projectDir: '/nowhere' },
    403,
    'PROJECT_DIR_NOT_ALLOWED',
  ],
  ['no folder', {}, 400, 'INVALID_QUERY'],
  ['a limit that is too large', { projectDir: '/etc', limit: '1000' }, 400, 'INVALID_QUERY'],
])('a request with %s is rejected', async (_, query, status, code) => {
  expect(await request(query as Record<string, string>)).toMatchObject({ status, code });
});

test('a request is rejected if the project folder does not exist or is a file', async () => {
  for (const name of ['gone', 'README.md']) {
    const answer = await request({ projectDir: join(shop, name) });
    expect(answer).toMatchObject({ status: 400, code: 'PROJECT_DIR_NOT_FOUND' });
  }
});

test('a request without the token is rejected', async () => {
  const path = `/api/project/files?projectDir=${encodeURIComponent(shop)}`;
  expect(await rawRequest(server.port, { path })).toMatchObject({ status: 401 });
});

testAtLength('100,000 files are searched without blocking the server', async () => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: shop });
  git('init', '-q');
  git('add', '-A');
  manyFiles(100_500);
  // The first request starts the search thread, and compiles the code before the measurement.
  mkdirSync(join(server.folder, 'other'));
  for (let n = 0; n < 20; n += 1) await find('a', { projectDir: join(server.folder, 'other') });
  const before = process.threadCpuUsage();
  const found = await Promise.all(
    ['', 'a', 'ap', 'app', 'app.ts', 'f 99'].map(async (q) => find(q, { limit: '50' })),
  );
  const { user, system } = process.threadCpuUsage(before);
  expect(found.map(({ truncated }) => truncated)).toEqual(found.map(() => true));
  expect(found[4]?.files).toContainEqual({ path: 'src/app.ts', name: 'app.ts' });
  // The processor time of this thread, in ms: for the test's own requests, and for a hundred checks of a path per
  // request.
  const worked = (user + system) / 1_000;
  expect(worked / found.length).toBeLessThan(20);
});

/** Makes many empty files, in folders of 500. */
function manyFiles(count: number): void {
  const make = `for folder in $(seq ${Math.ceil(count / 500)}); do
    mkdir -p many/$folder && (cd many/$folder && seq -f 'file-%g.ts' 500 | xargs touch)
  done`;
  execFileSync('sh', ['-c', make], { cwd: shop });
}
