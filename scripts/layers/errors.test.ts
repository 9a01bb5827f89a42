import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findErrors } from './errors.ts';

const tables = ['agents/src/contract', 'cli/src', 'runtime/src', 'server/src', 'storage/src'];

const table = `
import { errorTable } from '@liminal/protocol';
const rolledBack = () => 'Nothing was written.';
const table = { GONE: { deleted: (id: string) => id + ' is gone.' }, FAILED: { rolledBack } };
export class StorageError extends LiminalError {}
export const errors = errorTable(table, StorageError);
`;
const uses = 'throw errors.GONE.deleted(id); throw errors.FAILED.rolledBack();';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Reports on five packages, each with a table of errors, and these files. */
function reportsOn(files: Record<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'liminal-errors-'));
  folders.push(folder);
  const all = Object.fromEntries(tables.map((place) => [`${place}/errors.ts`, table]));
  for (const [file, text] of Object.entries({ ...all, ...files })) {
    const path = join(folder, 'packages', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return findErrors(folder);
}

test.each([
  [
    'the package’s own class',
    "import { StorageError } from './errors.ts'; throw new StorageError();",
  ],
  [
    'a class of another package',
    "import { StorageError } from '@liminal/storage'; throw new StorageError();",
  ],
  ['the root class', "throw new LiminalError('GONE', 'It is gone.');"],
])('an error of %s, made outside the table, is reported', (_what, text) => {
  expect(reportsOn({ 'runtime/src/turn/turn.ts': `${uses} ${text}` })).toEqual([
    expect.stringMatching(
      /packages\/runtime\/src\/turn\/turn\.ts makes a (Storage|Liminal)Error\./,
    ),
  ]);
});

test.each([
  ['an error of the table', 'runtime/src/a.ts', uses],
  ['a program error', 'runtime/src/a.ts', `${uses} throw new Error('a bug');`],
  [
    'a library’s class of the same name',
    'server/src/a.ts',
    `${uses} import { StorageError } from 'library'; throw new StorageError();`,
  ],
  ['an error that a test makes', 'runtime/src/a.test.ts', 'throw new StorageError();'],
  ['an error of a suite', 'storage/src/testing/suite.ts', 'throw new StorageError();'],
])('%s is not reported', (_what, file, text) => {
  expect(reportsOn({ 'cli/src/uses.ts': uses, [file]: text })).toEqual([]);
});

test('a row that no code uses is reported for each table', () => {
  const reports = reportsOn({ 'cli/src/uses.ts': 'throw errors.GONE.deleted(id);' });
  expect(reports).toEqual(
    tables.map((place) =>
      expect.stringContaining(`FAILED.rolledBack of packages/${place}/errors.ts`),
    ),
  );
});

test('a file without a table is reported', () => {
  const reports = reportsOn({
    'cli/src/uses.ts': uses,
    'cli/src/errors.ts': 'export const a = 1;',
  });
  expect(reports).toEqual(['errors: packages/cli/src/errors.ts has no table.']);
});
