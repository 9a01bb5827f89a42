import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAttachments } from './attach.ts';
import { ConfigError } from './config/errors.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'liminal-attach-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['a file that is not there', 'nowhere.png', undefined, 'nowhere.png" cannot be read: ENOENT'],
  ['a folder', '.', undefined, '" is no file.'],
  ['an empty file', 'empty.txt', 0, 'empty.txt" is empty.'],
  ['a file that is too large', 'large.bin', 21, 'large.bin" has 21 MiB, and may have 20'],
])('%s is refused in a sentence', async (_, name, mebis, sentence) => {
  const path = join(folder, name);
  if (mebis !== undefined) {
    writeFileSync(path, '');
    truncateSync(path, mebis * 1024 * 1024);
  }
  const refused = await readAttachments([path]).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ConfigError);
  expect((refused as Error).message).toContain(sentence);
});
