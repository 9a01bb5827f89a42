import { cutWord, wordsOf } from './words.ts';

/** Most words of a query that count: Convex looks for no more. */
const QUERY_WORDS_MAX = 16;

/**
 * What is looked for: every phrase must occur, its words one after another. What stands between spaces is a phrase
 * (`src/index.ts`); the last word of all may be the beginning of one.
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

/** The words that an index is asked for: all but the last as they are, the last as a beginning. */
export function indexTerms({ phrases }: ParsedQuery): { whole: string[]; prefix: string } {
  const words = phrases.flat().map(cutWord);
  const prefix = words.pop() ?? '';
  return { whole: [...new Set(words)], prefix };
}
