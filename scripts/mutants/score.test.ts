import { expect, test } from 'vitest';
import { scoreOf } from './score.ts';

test('a score counts what tests killed among what was tried', () => {
  expect(scoreOf(['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError'])).toBe(
    '50.0 % (2 of 4)',
  );
  expect(scoreOf(['Ignored'])).toBe('no mutants');
});
