import { expect, test } from 'vitest';
import { fillIn } from './words.ts';

const words = { cwd: '/a', i: 3, terminal: { terminalId: 't1', exit: { code: 0 } } };

test('placeholders are replaced within strings, at any depth', () => {
  expect(fillIn({ a: ['{{cwd}}/b', 'no {{i}} of {{terminal.exit.code}}'] }, words)).toEqual({
    a: ['/a/b', 'no 3 of 0'],
  });
});

test('a string that is only a placeholder becomes the placeholder’s value, of any type', () => {
  expect(fillIn(['{{i}}', '{{terminal.exit}}'], words)).toEqual([3, { code: 0 }]);
});

test('text without placeholders stays unchanged, and an unknown placeholder becomes undefined', () => {
  expect(fillIn([1, null, true, '{cwd}', '{{ cwd }}'], words)).toEqual([
    1,
    null,
    true,
    '{cwd}',
    '{{ cwd }}',
  ]);
  expect(fillIn(['{{no}}', '{{cwd.no}}'], words)).toEqual([undefined, undefined]);
});
