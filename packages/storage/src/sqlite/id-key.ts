import { idOf as idOfText, textKey } from '../store/text-key.ts';

/** No id begins with it but by design. */
const mark = '\u0000json:';

/** An id as SQLite can hold it: in UTF-8 half a character would become another, the same for all halves. */
export function keyOf(id: string): string {
  return id.isWellFormed() && !id.startsWith(mark) ? id : mark + textKey(id);
}

/** The id that such a key stands for. */
export function idOf(key: string): string {
  return key.startsWith(mark) ? idOfText(key.slice(mark.length)) : key;
}
