import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigFile } from './file.ts';

const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| '));
const keys = Object.keys(ConfigFile.shape);

test('docs/configuration.md has a row for each key of the file', () => {
  const listed = rows.flatMap((row) => /^`(\w+)`$/.exec(row.split('|')[4]!.trim())?.[1] ?? []);
  expect(listed.toSorted()).toEqual(keys.toSorted());
});

test('the example in docs/configuration.md is a valid file that has every key', () => {
  const [, example] = /```json\n([\s\S]+?)```/.exec(page)!;
  const parsed = ConfigFile.parse(JSON.parse(example!));
  expect(Object.keys(parsed).toSorted()).toEqual(keys.toSorted());
});
