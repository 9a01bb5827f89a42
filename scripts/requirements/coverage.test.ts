import { describe, expect, test } from 'vitest';
import { catalogue } from './catalogue.ts';
import {
  cover,
  describeCoverage,
  findProblems,
  type Catalogue,
  type NamedTest,
} from './coverage.ts';

// The ids in this file are invented: a test whose name contains a real id would count as a proof of the requirement.
describe('requirement coverage', () => {
  test.each([
    ['AB-01', 'AB-01 a simple message'],
    ['AB-01', 'folds › seed 003: AB-01, in its own configuration'],
    ['AB-5.2c', 'a threshold is exceeded (AB-5.2c).'],
    ['AB-1.1a', 'AB-1.1a: covers text'],
    ['CD-1', 'CD-1 and CD-2 hold'],
  ])('the id %s is found in the test name "%s"', (id, name) => {
    expect(testsOf(id, name)).toHaveLength(1);
  });

  test.each([
    ['AB-01', 'AB-012 something else'],
    ['AB-01', 'AB-01a something else'],
    ['AB-1', 'AB-1.1a covers text'],
    ['AB-1.1a', 'AB-1.1ab covers text'],
    ['AB-1.1a', 'AB-1x1a covers text'],
    ['CD-1', 'CD-10 holds'],
    ['AB-01', 'XAB-01 something else'],
    ['AB-01', 'X-AB-01 something else'],
  ])('the id %s is not found in the test name "%s"', (id, name) => {
    expect(testsOf(id, name)).toHaveLength(0);
  });

  test('an id in a suite’s name does not count as a test of the requirement', () => {
    const named = { file: 'a.test.ts', suites: ['AB-1: all of it'], name: 'some of it' };
    expect(cover({ 'AB-1': '' }, [named])).toMatchObject([{ id: 'AB-1', tests: [] }]);
  });

  test('an acceptance criterion is proved by its own test cases', () => {
    const tests = [
      'TC-1.1a: one',
      'TC-1.1b: another',
      'TC-1.2a: of the next',
      'TC-11.1a: of a later',
      'AC-1.1',
    ].map(named);
    expect(cover({ 'AC-1.1': '' }, tests)[0]?.tests).toEqual(tests.slice(0, 2));
  });

  test('the list shows each requirement with its tests', () => {
    const tests = [{ file: 'a.test.ts', suites: ['fold'], name: 'says so' }];
    expect(describeCoverage({ id: 'ID-1', text: 'It says so', tests })).toBe(
      'ID-1  It says so\n    a.test.ts › fold › says so',
    );
  });

  test('the list marks a requirement without a test, and shows the work that will build an open requirement', () => {
    const none = { id: 'ID-1', text: 'It says so', tests: [] };
    expect(describeCoverage(none)).toBe('ID-1  It says so\n    NO TEST');
    expect(describeCoverage({ ...none, open: 'traces' })).toBe(
      'ID-1  It says so\n    open: traces',
    );
    expect(describeCoverage({ ...none, figures: 'memory' })).toBe(
      'ID-1  It says so\n    measured: npm run bench -- memory',
    );
  });
});

describe('a problem of a catalogue', () => {
  const known: Catalogue = {
    'AB-1': 'Built',
    'AB-2': { text: 'Not built', open: 'See inside it, verify it, replay it' },
  };

  test('if all built requirements have tests and no open requirement has one, the catalogue has no problem', () => {
    expect(findProblems(known, [named('AB-1: a test'), named('CD-1 is of another kind')])).toEqual(
      [],
    );
    expect(findProblems({ 'AB-1': { text: 'Measured', figures: 'memory' } }, [])).toEqual([]);
  });

  test('a requirement without a test is a problem', () => {
    expect(findProblems(known, [])).toEqual(['AB-1 has no test, and is not open.']);
  });

  test('an open requirement with a test is a problem', () => {
    expect(findProblems(known, [named('AB-1'), named('AB-2 is built')])).toEqual([
      'AB-2 is open (See inside it, verify it, replay it), yet has a test: it is built.',
    ]);
  });

  test.each(['AB-3', 'AB-1.1', 'AB-1-1', 'AB-12', 'AB-1a'])(
    'the unknown id %s in the names of two tests is one problem',
    (id) => {
      const tests = ['AB-1: known', `${id}: not known`, `AB-1, ${id}: nor here`].map(named);
      expect(findProblems(known, tests)).toEqual([
        `${id} is in a test’s name, but not in the catalogue.`,
      ]);
    },
  );

  test('an id in the name of a suite is a problem, whether or not the catalogue has the id', () => {
    const tests = ['AB-1: all', 'AB-9: all'].map((suite) => ({
      file: 'a.test.ts',
      suites: ['outer', suite],
      name: 'AB-1: a test',
    }));
    expect(findProblems(known, tests)).toEqual([
      '"AB-1: all" is a suite: an id belongs to a test.',
      '"AB-9: all" is a suite: an id belongs to a test.',
    ]);
  });
});

test('the catalogue contains every promised id', () => {
  const kinds = Object.keys(catalogue).map((id) => id.split('-')[0]!);
  const counts = Object.fromEntries(
    [...new Set(kinds)].map((kind) => [kind, kinds.filter((one) => one === kind).length]),
  );
  expect(counts).toEqual({ AC: 26, TC: 99, NFR: 13, FR: 57, AS: 6, SAFE: 7, INV: 9 });
});

const named = (name: string): NamedTest => ({ file: 'a.test.ts', suites: [], name });

const testsOf = (id: string, name: string): readonly NamedTest[] =>
  cover({ [id]: '' }, [named(name)])[0]!.tests;
