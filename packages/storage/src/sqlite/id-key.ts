import { callKeyOf, type OutputItem } from '@liminal/protocol';
import { RowReader } from '../store/rows.ts';
import { idOfTextKey as idOfText, textKey } from '../store/text-key.ts';

/** A prefix that real ids do not have. */
const mark = '\u0000json:';

/** Converts an id to a form that SQLite can store: in UTF-8, all lone surrogates would become the same character. */
export function keyOf(id: string): string {
  return id.isWellFormed() && !id.startsWith(mark) ? id : mark + textKey(id);
}

/** The id of a key. */
export function idOf(key: string): string {
  return key.startsWith(mark) ? idOfText(key.slice(mark.length)) : key;
}

export const rowReader = new RowReader(idOf);

/** The value of the column `call_key` for an item. */
export function callColumn(item: OutputItem): string | null {
  const key = callKeyOf(item);
  return key === undefined ? null : keyOf(key);
}
