import { expect, it } from 'vitest';
import { codeTarget, linkTarget, targetWords } from './file-target.ts';

it.each([
  ['src/config.ts', { path: 'src/config.ts' }],
  ['./a.ts', { path: './a.ts' }],
  ['../a.ts', { path: '../a.ts' }],
  ['/abs/path/file.ts:12', { path: '/abs/path/file.ts', line: 12 }],
  ['file.ts:12', { path: 'file.ts', line: 12 }],
  ['Makefile:12', { path: 'Makefile', line: 12 }],
  ['file.ts:12:5', { path: 'file.ts', line: 12 }],
  ['src/file.ts:12-20', { path: 'src/file.ts', line: 12, endLine: 20 }],
  ['file.ts#L10-L20', { path: 'file.ts', line: 10, endLine: 20 }],
  ['file.ts#L10C3-L20C1', { path: 'file.ts', line: 10, endLine: 20 }],
  ['file.ts#L7', { path: 'file.ts', line: 7 }],
  ['README.md#install', { path: 'README.md' }],
  ['src/my%20file.ts', { path: 'src/my file.ts' }],
  ['50%.md', { path: '50%.md' }],
  ['~/notes.md', { path: '~/notes.md' }],
  ['file:///home/ada/a%20b.ts#L3', { path: '/home/ada/a b.ts', line: 3 }],
  ['file://localhost/home/a.ts', { path: '/home/a.ts' }],
  ['C:%5Cwork%5Ca.ts:3', { path: 'C:\\work\\a.ts', line: 3 }],
  ['c:/work/a.ts#L3', { path: 'c:/work/a.ts', line: 3 }],
  ['file:///C:/work/a.ts', { path: 'C:/work/a.ts' }],
  ['src/app/[id]/page.tsx', { path: 'src/app/[id]/page.tsx' }],
])('the link %s leads to a file', (href, target) => {
  expect(linkTarget(href)).toEqual(target);
});

it.each([
  '',
  '#fn-1',
  'https://example.com/a.ts',
  'http://localhost:3000',
  'localhost:3000',
  '127.0.0.1:8080',
  '//example.com/a.ts',
  'mailto:ada@example.com',
  'tel:123',
  'javascript:alert(1)',
  'javascript:12',
  'JAVASCRIPT:12',
  'data:text/html,x',
  'vscode://file/a.ts:1',
  'file:',
])('the link %s does not lead to a file', (href) => {
  expect(linkTarget(href)).toBeUndefined();
});

it('code is taken for the name of a file only if it looks like a path', () => {
  expect(codeTarget('src/a.ts')).toEqual({ path: 'src/a.ts' });
  expect(codeTarget('a.ts:3')).toEqual({ path: 'a.ts', line: 3 });
  for (const code of ['npm test', 'a | b', 'Map<string>', 'x', 'https://a.b', '*.ts', "'a.b'"]) {
    expect(codeTarget(code)).toBeUndefined();
  }
});

it('a position in a file is shown as people write it', () => {
  expect(targetWords({ path: 'a.ts' })).toBe('a.ts');
  expect(targetWords({ path: 'a.ts', line: 3 })).toBe('a.ts:3');
  expect(targetWords({ path: 'a.ts', line: 3, endLine: 5 })).toBe('a.ts:3–5');
});
