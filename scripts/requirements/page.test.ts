import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../bootstrap/root.mjs';
import { catalogue } from './catalogue.ts';
import { cover } from './coverage.ts';
import { departures } from './decisions.ts';
import { findDepartureProblems, requirementsPage } from './page.ts';

// The id is composed at run time: a test whose name contains a real id would count as a proof of the requirement.
const id = (kind: string, number: string): string => [kind, number].join('-');

test('the page shows each requirement with one test per file, its figures, its open work and its decision', () => {
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

test('the page shows every requirement of the catalogue once, and an unknown requirement is an error', () => {
  const all = cover(catalogue, []);
  const page = requirementsPage(all, departures);
  for (const one of all) expect(page.split(`**${one.id}** `)).toHaveLength(2);
  expect(() => requirementsPage([{ id: 'X-1', text: '', tests: [] }], [])).toThrow('X-1');
});

test('the record of each decision exists, and the ids of each decision are in the catalogue', () => {
  const records = readdirSync(join(root, 'docs/decisions'));
  expect(findDepartureProblems(departures, Object.keys(catalogue), records)).toEqual([]);
  expect(findDepartureProblems([{ text: '', record: 'no.md', ids: ['X-1'] }], [], [])).toEqual([
    'docs/decisions/no.md does not exist.',
    'X-1, of no.md, is not in the catalogue.',
  ]);
});
