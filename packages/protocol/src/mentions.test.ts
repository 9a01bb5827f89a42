import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { linkedMentions, mentionLink, mentionOf, mentionsIn } from './mentions.ts';

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
])('the mention of %j is %s', (path, mention) => {
  expect(mentionOf(path)).toBe(mention);
});

test('a mention is found only at the beginning of a word', () => {
  expect(pathsIn('@a.ts and @src/b.ts\n@c')).toEqual(['a.ts', 'src/b.ts', 'c']);
  expect(pathsIn('你好。@a.ts')).toEqual(['a.ts']);
  expect(pathsIn('me@example.org (@a.ts) `@a.ts`')).toEqual([]);
  expect(pathsIn('@ @. @"" @"a')).toEqual([]);
});

test('punctuation after a mention is not part of the mention', () => {
  expect(pathsIn('See @src/a.ts, @b.ts: @c.ts) and @d.ts.')).toEqual([
    'src/a.ts',
    'b.ts',
    'c.ts',
    'd.ts',
  ]);
  expect(pathsIn('Is it @"a b.ts"?')).toEqual(['a b.ts']);
});

test('a mention contains its position in the text', () => {
  const text = 'Look at @"a b.ts", @c.ts.';
  const marked = mentionsIn(text).map(({ from, to }) => text.slice(from, to));
  expect(marked).toEqual(['@"a b.ts"', '@c.ts']);
});

test('every path is found in a text that mentions it', () => {
  // A path that ends with a backslash, or has a backslash before a quote, cannot be quoted; such paths do not occur.
  const path = fc.string({ minLength: 1, unit: 'grapheme' }).filter((one) => !one.includes('\\'));
  fc.assert(
    fc.property(path, fc.constantFrom('', 'See '), (one, start) => {
      expect(pathsIn(`${start}${mentionOf(one)} and more`)).toEqual([one]);
    }),
  );
});

test('searching a long text takes linear time, whatever quotes the text contains', () => {
  // A pattern that steps back at each letter would need minutes for these texts.
  expect(mentionsIn(' @"'.repeat(50_000))).toHaveLength(25_000);
  expect(mentionsIn(`@"${'\\"'.repeat(100_000)}`)).toHaveLength(1);
  expect(mentionsIn(` @a${'.'.repeat(100_000)}`)).toHaveLength(1);
  expect(mentionsIn(`@a${'.'.repeat(100_000)}a`)).toHaveLength(1);
  expect(mentionsIn('@'.repeat(100_000))).toEqual([]);
});

test('a mention’s link has the URL of the mentioned file', () => {
  const link = { type: 'resource_link', uri: 'file:///code/src/a%20b%23.ts', name: 'a b#.ts' };
  expect(mentionLink('/code', 'src/a b#.ts')).toEqual(link);
  expect(mentionLink('/code', 'src/').uri).toBe('file:///code/src/');
  expect(mentionLink('/', 'a').uri).toBe('file:///a');
});

test('a link that the text mentions is separated from other attachments', () => {
  const image = { type: 'image', mimeType: 'image/png', uri: 'blob:1' } as const;
  const web = { type: 'resource_link', uri: 'https://example.org/a.ts', name: 'a.ts' } as const;
  const blocks = [
    mentionLink('/code', 'a.ts'),
    mentionLink('/code', 'src/'),
    mentionLink('/other', 'b.ts'),
    web,
    image,
  ];
  const { mentions, others } = linkedMentions('@a.ts, @b.ts, @src and @a.ts', blocks, '/code');
  expect(mentions.map(({ path, from }) => [path, from])).toEqual([
    ['a.ts', 0],
    ['src', 14],
    ['a.ts', 23],
  ]);
  expect(others).toEqual(blocks.slice(2));
  expect(linkedMentions('@a.ts', blocks, undefined)).toEqual({ mentions: [], others: blocks });
});

test('a link is found in the text in whichever way its address is written', () => {
  const links = ['file:///code/a%20b.ts', 'file:///code/a b.ts'].map(
    (uri) => ({ type: 'resource_link', uri, name: 'a' }) as const,
  );
  for (const link of links) {
    expect(linkedMentions('@"a b.ts"', [link], '/code').mentions).toMatchObject([{ link }]);
  }
  const broken = { type: 'resource_link', uri: 'file:///%', name: '%' } as const;
  expect(linkedMentions('@a', [broken], '/code')).toEqual({ mentions: [], others: [broken] });
});
