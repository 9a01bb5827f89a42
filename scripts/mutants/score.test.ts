import { expect, test } from 'vitest';
import { scoreOf } from './score.ts';

test('a score is the number of killed mutants as a share of the mutants that were tried', () => {
  expect(scoreOf(['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError'])).toBe(
    '50.0 % (2 of 4)',
  );
  expect(scoreOf(['Ignored'])).toBe('no mutants');
});
