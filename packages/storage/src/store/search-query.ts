import { cutWord, wordsOf } from './words.ts';

/** The most words of a query; further words are ignored. Convex accepts at most this many words in a search. */
const queryWordsMax = 16;

/**
 * A parsed query. Every phrase must occur; the words of a phrase must occur one directly after another. A text between
 * spaces is a phrase (`src/index.ts`). The last word of the query may be a prefix.
 */
export interface ParsedQuery {
  phrases: string[][];
}

/** Parses any text as a query; undefined if it has no words. */
export function parseQuery(text: string): ParsedQuery | undefined {
  const phrases: string[][] = [];
  let room = queryWordsMax;
  for (const part of text.split(/\s+/u)) {
    const words = Array.from(wordsOf(part), ({ folded }) => folded).slice(0, room);
    room -= words.length;
    if (words.length > 0) phrases.push(words);
  }
  return phrases.length === 0 ? undefined : { phrases };
}

/** The words of the query for an index lookup: the last word is a prefix, all other words are exact. */
export function indexTerms({ phrases }: ParsedQuery): { exact: string[]; prefix: string } {
  const words = phrases.flat().map(cutWord);
  const prefix = words.pop() ?? '';
  return { exact: [...new Set(words)], prefix };
}
