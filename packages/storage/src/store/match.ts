import type { ParsedQuery } from './search-query.ts';
import type { TextWord } from './words.ts';
import { wordsOf } from './words.ts';

/** The approximate number of characters of a snippet before the hit, and in total. */
const lead = 40;
const snippetMax = 160;

/** Returns a piece of the text around the query's first phrase; undefined if the text lacks one of the phrases. */
export function snippetOf(text: string, { phrases }: ParsedQuery): string | undefined {
  const words = [...wordsOf(text)];
  const places = phrases.map((phrase, at) =>
    indexOfPhrase(words, phrase, at === phrases.length - 1 ? 'beginning' : 'whole'),
  );
  if (places.includes(-1)) return undefined;
  return cutAround(text, words[places[0] ?? 0]?.start ?? 0);
}

/**
 * Returns the index of the first word of the phrase's first occurrence, or -1. With `last`, the phrase's last word may
 * match as a prefix.
 */
function indexOfPhrase(words: readonly TextWord[], phrase: string[], last: 'whole' | 'beginning') {
  const lastAt = phrase.length - 1;
  return words.findIndex((_, from) =>
    phrase.every((wanted, offset) => {
      const found = words[from + offset]?.folded;
      if (found === wanted) return true;
      return last === 'beginning' && offset === lastAt && found?.startsWith(wanted) === true;
    }),
  );
}

function cutAround(text: string, place: number): string {
  const from = place <= lead ? 0 : wholeCharacter(text, place - lead);
  const to = wholeCharacter(text, Math.min(text.length, from + snippetMax));
  const piece = text.slice(from, to).replaceAll(/\s+/gu, ' ').trim();
  return `${from > 0 ? '…' : ''}${piece}${to < text.length ? '…' : ''}`;
}

/** Returns the position; if the position is inside a surrogate pair, returns the position before it. */
export function wholeCharacter(text: string, place: number): number {
  const isInside = place > 0 && (text.codePointAt(place - 1) ?? 0) > 0xffff;
  return isInside ? place - 1 : place;
}
