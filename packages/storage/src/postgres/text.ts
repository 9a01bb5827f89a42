import { indexWords } from '../store/words.ts';

/** An id as PostgreSQL can hold it: what it cannot (\u0000, lone surrogates) is escaped as in JSON. */
export function textKey(id: string): string {
  return JSON.stringify(id).slice(1, -1);
}

/** The id that such a key stands for. */
export function idOf(key: string): string {
  return JSON.parse(`"${key}"`) as string;
}

/** What is kept of a text to find it by. */
export function wordList(text: string): string {
  return indexWords(text).join(' ');
}
