import { expect, test } from 'vitest';
import { scoreOf } from './score.ts';

test('a score is the share of tried mutants that tests killed', () => {
  expect(scoreOf(['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError'])).toBe(
    '50.0 % (2 of 4)',
  );
  expect(scoreOf(['Ignored'])).toBe('no mutants');
});
