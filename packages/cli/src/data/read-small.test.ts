import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSmall } from './read-small.ts';

let path: string;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'liminal-read-small-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file is read, also through a symbolic link', () => {
  writeFileSync(path, 'text');
  symlinkSync(path, `${path}.link`);
  expect([readSmall(path), readSmall(`${path}.link`)]).toEqual(['text', 'text']);
});

const wrong: [what: string, make: () => void, says: RegExp][] = [
  ['a pipe', () => execFileSync('mkfifo', [path]), /file is not a file\. Move it away\./],
  ['an endless device', () => symlinkSync('/dev/zero', path), /is not a file/],
  [
    'a file of a gigabyte',
    () => {
      writeFileSync(path, '');
      truncateSync(path, 2 ** 30);
    },
    /larger than 16 MiB/,
  ],
];

test.each(wrong)('SAFE: %s is refused at once instead of being read', (_what, make, says) => {
  make();
  expect(() => readSmall(path)).toThrow(says);
});

test('a folder is refused by the file system', () => {
  expect(() => readSmall(folder)).toThrow(/EISDIR/);
});
