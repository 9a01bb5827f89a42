import { cutWord, wordsOf } from './words.ts';

/** The most words of a query that count: Convex searches for no more. */
const QUERY_WORDS_MAX = 16;

/**
 * A parsed query: every phrase must occur, its words one after another. Text between spaces is a phrase
 * (`src/index.ts`); the very last word may be a prefix.
 */
export interface ParsedQuery {
  phrases: string[][];
}

/** Any text is a query; undefined if it has no words. */
export function parseQuery(text: string): ParsedQuery | undefined {
  const phrases: string[][] = [];
  let room = QUERY_WORDS_MAX;
  for (const part of text.split(/\s+/u)) {
    const words = Array.from(wordsOf(part), ({ folded }) => folded).slice(0, room);
    room -= words.length;
    if (words.length > 0) phrases.push(words);
  }
  return phrases.length === 0 ? undefined : { phrases };
}

/** The words to look up in an index: all but the last exactly, the last as a prefix. */
export function indexTerms({ phrases }: ParsedQuery): { whole: string[]; prefix: string } {
  const words = phrases.flat().map(cutWord);
  const prefix = words.pop() ?? '';
  return { whole: [...new Set(words)], prefix };
}
