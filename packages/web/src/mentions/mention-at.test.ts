import { expect, test } from 'vitest';
import { mentionAt } from './mention-at.ts';

/** Returns the mention at the caret (`|`), with the text that would be replaced. */
function at(marked: string) {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  const found = mentionAt(text, caret);
  return found && { query: found.query, replaces: text.slice(found.from, found.to) };
}

test('an @ at the beginning of a word begins a mention', () => {
  expect(at('@|')).toEqual({ query: '', replaces: '@' });
  expect(at('See @src/a|')).toEqual({ query: 'src/a', replaces: '@src/a' });
  expect(at('See\n@a|')).toEqual({ query: 'a', replaces: '@a' });
  expect(at('看。@a|')).toEqual({ query: 'a', replaces: '@a' });
});

test.each(['me@exam|', 'See |@a', '@a |', 'a|', '|', '`@a|', '(@a|'])(
  'the text %s has no mention at the caret (|)',
  (marked) => {
    expect(at(marked)).toBeUndefined();
  },
);

test('a quoted mention may contain spaces, up to the end of its line', () => {
  expect(at('See @"my no|')).toEqual({ query: 'my no', replaces: '@"my no' });
  expect(at('See @"my\nno|')).toBeUndefined();
  expect(at('See @"my no" an|')).toBeUndefined();
});

test('a chosen path replaces the whole mention; after a lone @, it replaces only the @, and not the word after it', () => {
  expect(at('See @sr|c/a.ts, then')).toEqual({ query: 'sr', replaces: '@src/a.ts' });
  expect(at('See @"my| notes.md" then')).toEqual({ query: 'my', replaces: '@"my notes.md"' });
  expect(at('See @"my| notes')).toEqual({ query: 'my', replaces: '@"my' });
  expect(at('See @|word')).toEqual({ query: '', replaces: '@' });
});

test('after each typed letter, a long text is not searched again from its start', () => {
  expect(mentionAt(`@${'a'.repeat(1_000)}`, 1_001)).toBeUndefined();
  expect(mentionAt(`${'x'.repeat(10_000)} @a`, 10_003)).toMatchObject({ query: 'a' });
  expect(mentionAt(`${'x'.repeat(10_000)}@a`, 10_002)).toBeUndefined();
});
