import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../bootstrap/root.mjs';
import { catalogue } from './catalogue.ts';
import { cover } from './coverage.ts';
import { departures } from './decisions.ts';
import { findDepartureProblems, requirementsPage } from './page.ts';

// The id is composed at run time: a real id in this file's test names would count as proved.
const id = (kind: string, number: string): string => [kind, number].join('-');

test('the page has each requirement with one test a file, its figure, its open work and its decision', () => {
  const page = requirementsPage(
    [
      {
        id: id('FR', '001-99'),
        text: 'It *says* so',
        tests: [
          { file: 'b.test.ts', suites: [], name: 'z' },
          { file: 'b.test.ts', suites: ['s'], name: 's > a' },
          { file: 'a.test.ts', suites: [], name: 'c' },
        ],
      },
      { id: id('NFR', '000-99'), text: 'It is quick', figures: 'quick', tests: [] },
      { id: id('INV', '99'), text: 'It holds', open: 'later', tests: [] },
    ],
    [{ text: 'We differ', record: '0099-x.md', ids: [id('FR', '001-99')] }],
  );
  expect(page).toContain(
    String.raw`**FR-001-99** It \*says\* so

- ${'`a.test.ts`'}: c
- ${'`b.test.ts`'}: a
- decided: [0099-x.md](decisions/0099-x.md)`,
  );
  expect(page).toContain('- measured: `npm run bench -- quick`');
  expect(page).toContain('- open: later');
  expect(page).toContain('- We differ (FR-001-99): [0099-x.md](decisions/0099-x.md)');
});

test('every requirement of the catalogue has its place, and an unknown one is an error', () => {
  const all = cover(catalogue, []);
  const page = requirementsPage(all, departures);
  for (const one of all) expect(page.split(`**${one.id}** `)).toHaveLength(2);
  expect(() => requirementsPage([{ id: 'X-1', text: '', tests: [] }], [])).toThrow('X-1');
});

test('a decision names an existing record, and ids of the catalogue', () => {
  const records = readdirSync(join(root, 'docs/decisions'));
  expect(findDepartureProblems(departures, Object.keys(catalogue), records)).toEqual([]);
  expect(findDepartureProblems([{ text: '', record: 'no.md', ids: ['X-1'] }], [], [])).toEqual([
    'docs/decisions/no.md does not exist.',
    'X-1, of no.md, is not in the catalogue.',
  ]);
});
