import { execFileSync } from 'node:child_process';
import { renameSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { imageMax, readProjectFile, textMax } from './project-file.ts';
import { Roots } from '../roots.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

let base: string;
let shop: string;
let read: (path: string) => ReturnType<typeof readProjectFile>;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'liminal-file-')));
  shop = join(base, 'code/shop');
  await mkdir(join(shop, 'src'), { recursive: true });
  await mkdir(join(base, 'code/lib'));
  await mkdir(join(base, 'code/.liminal'));
  await mkdir(join(base, 'code-private'));
  await writeFile(join(shop, 'src/a b.ts'), 'const a = 1;\n');
  await writeFile(join(base, 'code/lib/b.ts'), 'const b = 2;\n');
  await writeFile(join(base, 'code/.liminal/token'), 'secret');
  await writeFile(join(base, 'code-private/secret'), 'secret');
  const roots = await Roots.open([join(base, 'code')], [join(base, 'code/.liminal')]);
  read = (path) => readProjectFile(path, { projectDir: shop, roots });
});
afterEach(async () => rm(base, { recursive: true }));

/** The error code for a path; `shown` if the file is shown. */
const refusal = async (path: string) =>
  read(path).then(
    () => 'shown',
    (error: { code: string }) => error.code,
  );

test('a path may be relative to the project folder, absolute, or lead through a link that stays inside the project', async () => {
  const file = { kind: 'text', text: 'const a = 1;\n', isCut: false, size: 13 };
  const path = join(shop, 'src/a b.ts');
  await symlink('src', join(shop, 'link'));
  expect(await read('src/a b.ts')).toMatchObject({ ...file, path });
  expect(await read(path)).toMatchObject({ ...file, path });
  expect(await read('link/a b.ts')).toMatchObject({ ...file, path });
  expect(await read('../lib/b.ts')).toMatchObject({ text: 'const b = 2;\n' });
});

test('a project outside the roots shows only its own files', async () => {
  const projectDir = join(base, 'code-private');
  const place = { projectDir, roots: await Roots.open([join(base, 'code/lib')]) };
  expect(await readProjectFile('secret', place)).toMatchObject({ text: 'secret' });
  await expect(readProjectFile('../code/shop/src/a b.ts', place)).rejects.toMatchObject({
    code: 'FILE_NOT_ALLOWED',
  });
});

describe('a file outside', () => {
  test.each([
    '../../code-private/secret',
    '../../code-private/nothing',
    '../../../../../../../../etc/passwd',
    '/etc/passwd',
    '/etc/nothing',
    '/etc',
    '/proc/self/environ',
    '/proc/self/root/etc/passwd',
    '/sys/kernel/notes',
    '/dev/zero',
    '/dev/fd/0',
    '..',
    '.',
  ])('%s is rejected', async (path) => {
    const code = path === '..' || path === '.' ? 'FILE_UNREADABLE' : 'FILE_NOT_ALLOWED';
    expect(await refusal(path)).toBe(code);
  });

  test('is not reached through a link, and the error is the same whether or not it exists', async () => {
    await symlink(join(base, 'code-private'), join(shop, 'out'));
    await symlink(join(base, 'code-private/secret'), join(shop, 'out.ts'));
    await symlink('/proc/self/environ', join(shop, 'environ'));
    for (const path of ['out/secret', 'out/nothing', 'out/no/thing', 'out.ts', 'environ']) {
      expect(await refusal(path)).toBe('FILE_NOT_ALLOWED');
    }
  });

  test('is not reached in /proc, /sys or /dev, even if the root is /', async () => {
    const place = { projectDir: '/', roots: await Roots.open(['/']) };
    for (const path of ['/proc/self/environ', '/proc/1/maps', '/sys/kernel/notes', '/dev/zero']) {
      await expect(readProjectFile(path, place)).rejects.toMatchObject({
        code: 'FILE_NOT_ALLOWED',
      });
    }
  });

  test('is not shown if it is in Liminal’s own folder, even below a root', async () => {
    await symlink(join(base, 'code/.liminal/token'), join(shop, 'token'));
    expect(await refusal('../.liminal/token')).toBe('FILE_NOT_ALLOWED');
    expect(await refusal('token')).toBe('FILE_NOT_ALLOWED');
  });

  test('is not reached by replacing a folder with a link after the check', async () => {
    await mkdir(join(shop, 'door'));
    await writeFile(join(shop, 'door/secret'), 'public');
    const roots = await Roots.open([join(base, 'code')]);
    let looks = 0;
    const hides = (path: string) => {
      if (++looks === 1) {
        renameSync(join(shop, 'door'), join(shop, 'aside'));
        symlinkSync(join(base, 'code-private'), join(shop, 'door'));
      }
      return roots.hides(path);
    };
    const place = {
      projectDir: shop,
      roots: { hides, holds: (path: string) => roots.holds(path), hidesFile: async () => false },
    };
    await expect(readProjectFile('door/secret', place)).rejects.toMatchObject({
      code: 'FILE_NOT_ALLOWED',
    });
    expect(looks).toBe(2);
  });
});

describe('a path without content to show', () => {
  test('is a folder: the folder is not listed', async () => {
    expect(await refusal('src')).toBe('FILE_UNREADABLE');
  });

  test('is a pipe: reading does not block', async () => {
    execFileSync('mkfifo', [join(shop, 'pipe')]);
    expect(await refusal('pipe')).toBe('FILE_UNREADABLE');
  });

  test('does not exist: the file is reported as missing', async () => {
    for (const path of ['src/none.ts', 'none/none.ts', 'src/a b.ts/none', 'a\0b', 'x'.repeat(300)])
      expect(await refusal(path)).toBe('FILE_NOT_FOUND');
  });
});

describe('content', () => {
  test('long text is cut between characters and marked as cut', async () => {
    await writeFile(join(shop, 'long'), `a${'é'.repeat(textMax)}`);
    const result = await read('long');
    expect(result).toMatchObject({ kind: 'text', isCut: true, size: 2 * textMax + 1 });
    expect('text' in result && result.text).toBe(`a${'é'.repeat((textMax - 2) / 2)}`);
    await writeFile(join(shop, 'fits'), 'b'.repeat(textMax));
    expect(await read('fits')).toMatchObject({ isCut: false });
  });

  test('of a huge file, only the shown part is read', async () => {
    await writeFile(join(shop, 'huge'), 'x'.repeat(10_000));
    await truncate(join(shop, 'huge'), 50 * 1024 ** 3);
    const result = await read('huge');
    expect(result).toMatchObject({ kind: 'text', isCut: true, size: 50 * 1024 ** 3 });
    expect('text' in result && result.text.length).toBe(textMax);
  });

  test('an image is recognised by its content; the content of a big image is left out', async () => {
    await writeFile(join(shop, 'shot'), png);
    const data = png.toString('base64');
    expect(await read('shot')).toMatchObject({ kind: 'image', mimeType: 'image/png', data });
    await writeFile(join(shop, 'page.png'), '<script>alert(1)</script>');
    expect(await read('page.png')).toMatchObject({ kind: 'text' });
    await writeFile(join(shop, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    expect(await read('logo.svg')).toMatchObject({ kind: 'image', mimeType: 'image/svg+xml' });
    await truncate(join(shop, 'shot'), imageMax + 1);
    expect(await read('shot')).toMatchObject({ kind: 'binary', size: imageMax + 1 });
  });

  test('the content of a binary file is left out', async () => {
    await writeFile(join(shop, 'a.out'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
    const result = await read('a.out');
    expect(result).toMatchObject({ kind: 'binary', size: 7 });
    expect(result).not.toHaveProperty('text');
  });
});
