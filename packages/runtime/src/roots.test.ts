import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Roots } from './roots.ts';

let base: string;
let roots: Roots;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'liminal-roots-')));
  await mkdir(join(base, 'allowed/shop/src'), { recursive: true });
  await mkdir(join(base, 'allowed/shop-admin'));
  await mkdir(join(base, 'allowed/.hidden'));
  await mkdir(join(base, 'allowed-too'));
  await writeFile(join(base, 'allowed/file'), '');
  await symlink(base, join(base, 'allowed/way-out'));
  roots = await Roots.open([join(base, 'allowed'), join(base, 'does-not-exist')]);
});
afterEach(async () => rm(base, { recursive: true }));

test('a folder below a root is admitted by its real path, and so is the root itself', async () => {
  expect(await roots.admit(join(base, 'allowed/shop/../shop'))).toBe(join(base, 'allowed/shop'));
  expect(await roots.admit(join(base, 'allowed'))).toBe(join(base, 'allowed'));
});

test.each([
  'allowed-too',
  'allowed/..',
  'allowed/way-out',
  'allowed/way-out/allowed-too',
  'nowhere',
])(
  'SAFE-5 %s lies outside the roots and is rejected, whether or not the path exists',
  async (path) => {
    await expect(roots.admit(join(base, path))).rejects.toMatchObject({
      code: 'PROJECT_DIR_NOT_ALLOWED',
    });
  },
);

test('~ is the home folder', async () => {
  const home = await realpath(homedir());
  expect(await (await Roots.open([home])).admit('~')).toBe(home);
});

test.each(['allowed/none', 'allowed/file'])('%s is not a folder', async (path) => {
  await expect(roots.admit(join(base, path))).rejects.toMatchObject({
    code: 'PROJECT_DIR_NOT_FOUND',
  });
});

test('a prefix of a path is completed with folders below the roots; hidden folders are suggested only after a dot', async () => {
  const names = async (prefix: string) => (await roots.complete(prefix)).map(({ name }) => name);
  expect(await names('')).toEqual(['allowed']);
  expect(await names(join(base, 'allowed/SH'))).toEqual(['shop', 'shop-admin']);
  expect(await names(join(base, 'allowed/'))).toEqual(['shop', 'shop-admin']);
  expect(await names(`${base}/allowed/.`)).toEqual(['.hidden']);
  expect(await names(join(base, 'allowed/shop/'))).toEqual(['src']);
  expect(await names(join(base, 'allowed/way-out/'))).toEqual([]);
  expect(await names(`${base}/`)).toEqual([]);
});
