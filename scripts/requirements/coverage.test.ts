import { describe, expect, test } from 'vitest';
import { catalogue } from './catalogue.ts';
import { cover, describeCoverage } from './coverage.ts';

// Ids that nobody has promised: a real one in a test's name would count as covered.
describe('requirement coverage', () => {
  test.each([
    ['AB-01', 'AB-01 a simple message'],
    ['AB-01', 'folds › seed 003: AB-01, in its own configuration'],
    ['AB-5.2c', 'a threshold is exceeded (AB-5.2c).'],
    ['AB-1.1a', 'AB-1.1a: covers text'],
    ['CD-1', 'CD-1 and CD-2 hold'],
  ])('finds %s in "%s"', (id, name) => {
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
  ])('does not find %s in "%s"', (id, name) => {
    expect(testsOf(id, name)).toHaveLength(0);
  });

  test('lists a requirement with its tests', () => {
    const tests = [{ file: 'a.test.ts', name: 'fold > says so' }];
    expect(describeCoverage({ id: 'ID-1', text: 'It says so', tests })).toBe(
      'ID-1  It says so\n    a.test.ts › fold > says so',
    );
  });

  test('names a requirement without a test', () => {
    expect(describeCoverage({ id: 'ID-1', text: 'It says so', tests: [] })).toContain('NO TEST');
  });

  test('holds every id that was promised', () => {
    expect(Object.keys(catalogue)).toHaveLength(112);
  });
});

function testsOf(id: string, name: string) {
  return cover({ [id]: '' }, [{ file: 'a.test.ts', name }]).flatMap(({ tests }) => tests);
}
