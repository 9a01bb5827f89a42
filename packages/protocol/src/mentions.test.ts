import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mentionOf, mentionsIn } from './mentions.ts';

const pathsIn = (text: string) => mentionsIn(text).map(({ path }) => path);

test.each([
  ['src/a.ts', '@src/a.ts'],
  ['src/', '@src/'],
  ['größe/説明.md', '@größe/説明.md'],
  ['a b.ts', '@"a b.ts"'],
  ['a\nb', '@"a\nb"'],
  ['a (1)', '@"a (1)"'],
  ['a,', '@"a,"'],
  ['Makefile.', '@"Makefile."'],
  ['say "hi".ts', '@"say \\"hi\\".ts"'],
])('%j is mentioned as %s', (path, mention) => {
  expect(mentionOf(path)).toBe(mention);
});

test('a mention begins a word', () => {
  expect(pathsIn('@a.ts and @src/b.ts\n@c')).toEqual(['a.ts', 'src/b.ts', 'c']);
  expect(pathsIn('你好。@a.ts')).toEqual(['a.ts']);
  expect(pathsIn('me@example.org (@a.ts) `@a.ts`')).toEqual([]);
  expect(pathsIn('@ @. @"" @"a')).toEqual([]);
});

test('what follows it in a sentence does not belong to it', () => {
  expect(pathsIn('See @src/a.ts, @b.ts: @c.ts) and @d.ts.')).toEqual([
    'src/a.ts',
    'b.ts',
    'c.ts',
    'd.ts',
  ]);
  expect(pathsIn('Is it @"a b.ts"?')).toEqual(['a b.ts']);
});

test('its place is told', () => {
  const text = 'Look at @"a b.ts", @c.ts.';
  const marked = mentionsIn(text).map(({ from, to }) => text.slice(from, to));
  expect(marked).toEqual(['@"a b.ts"', '@c.ts']);
});

test('every path is found again where it is mentioned', () => {
  // A path that ends with a backslash, or has one before a quote, cannot be quoted; nobody has one.
  const path = fc.string({ minLength: 1, unit: 'grapheme' }).filter((one) => !one.includes('\\'));
  fc.assert(
    fc.property(path, fc.constantFrom('', 'See '), (one, start) => {
      expect(pathsIn(`${start}${mentionOf(one)} and more`)).toEqual([one]);
    }),
  );
});

test('a long text without an end of its quotes takes no long time', () => {
  const text = ' @"'.repeat(50_000);
  const begun = performance.now();
  mentionsIn(text);
  expect(performance.now() - begun).toBeLessThan(1_000);
});
