import { expect, test } from 'vitest';
import { FileIndex } from './file-index.ts';

const index = (files: string[], changed: string[] = []) =>
  new FileIndex({ files, changed, isWhole: true });

const files = [
  'README.md',
  'docs/composer.md',
  'packages/agents/src/kinds/claude-code/prompt.ts',
  'packages/agents/src/kinds/codex/prompt.ts',
  'packages/web/src/composer/CommandMenu.tsx',
  'packages/web/src/composer/Composer.tsx',
  'packages/web/src/look/LinkedText.tsx',
  'packages/web/test/controls/composer.test.ts',
];

test('a match in a file’s name comes before a match in its folders, a whole name before a part of a name, and a short path first', () => {
  expect(index(files).find('composer', 10)).toEqual([
    'packages/web/src/composer/',
    'docs/composer.md',
    'packages/web/src/composer/Composer.tsx',
    'packages/web/test/controls/composer.test.ts',
    'packages/web/src/composer/CommandMenu.tsx',
  ]);
});

test('letters that are spread over several words are found, and matches with close letters come first', () => {
  expect(index(files).find('clprompt', 10)).toEqual([
    'packages/agents/src/kinds/claude-code/prompt.ts',
  ]);
  expect(index(files).find('cmpsr', 3)).toEqual([
    'docs/composer.md',
    'packages/web/src/composer/',
    'packages/web/src/composer/Composer.tsx',
  ]);
});

test.each([
  ['composer/c', 'packages/web/src/composer/Composer.tsx'],
  ['src/codex/', 'packages/agents/src/kinds/codex/'],
  ['./readme', 'README.md'],
  ['prompt codex', 'packages/agents/src/kinds/codex/prompt.ts'],
  ['text', 'packages/web/src/look/LinkedText.tsx'],
  ['LINKEDTEXT.TSX', 'packages/web/src/look/LinkedText.tsx'],
])('“%s” finds %s first', (query, first) => {
  expect(index(files).find(query, 1)).toEqual([first]);
});

test('a query without matches finds nothing', () => {
  expect(index(files).find('xyzzy', 10)).toEqual([]);
  expect(index(files).find('prompt xyzzy', 10)).toEqual([]);
  expect(index([]).find('a', 10)).toEqual([]);
});

test('among equal matches, changed files come first', () => {
  const found = index(files, ['packages/agents/src/kinds/claude-code/prompt.ts']).find(
    'prompt.ts',
    2,
  );
  expect(found).toEqual([
    'packages/agents/src/kinds/claude-code/prompt.ts',
    'packages/agents/src/kinds/codex/prompt.ts',
  ]);
});

test('an empty query returns changed files, and then files at the top level', () => {
  const changed = ['packages/web/src/composer/Composer.tsx', 'README.md'];
  expect(index(files, changed).find('', 10)).toEqual([...changed, 'docs/', 'packages/']);
  expect(index(files, changed).find(' ', 1)).toEqual(changed.slice(0, 1));
});

test('a folder is listed once, even if it is also listed as a file', () => {
  const found = index(['a/b/c.ts', 'a/b/d.ts', 'a/module/']).find('a', 10);
  expect(found.toSorted()).toEqual(['a/', 'a/b/', 'a/b/c.ts', 'a/b/d.ts', 'a/module/']);
});

test('names of any language are found', () => {
  expect(index(['docs/größe.md', 'docs/説明.md']).find('説', 5)).toEqual(['docs/説明.md']);
  expect(index(['docs/GRÖSSE.md', 'docs/説明.md']).find('ö', 5)).toEqual(['docs/GRÖSSE.md']);
});
