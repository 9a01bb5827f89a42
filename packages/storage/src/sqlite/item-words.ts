/** The words of items, for search. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { OutputItem, ResponseStatus } from '@liminal/protocol';
import { isSettled, isUnderWay, searchableText } from '../store/searchable-text.ts';
import { readHead, readItem } from '../store/stored-json.ts';
import { wordList } from '../store/words.ts';

/**
 * An index of words. It stores neither the text nor the positions and counts of the words, so that it stays small. The
 * words are already split, so the simplest tokenizer is enough: it splits at spaces and keeps every other character.
 */
export const itemWords = `
  CREATE VIRTUAL TABLE item_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
  );
`;

/**
 * The number of bits of the item's index in a row id; a row id combines an item's run and index in one number. Items
 * whose index needs more bits are not searched.
 */
export const indexBits = 20;
const indexEnd = 2 ** indexBits;

interface NotedItem {
  /** `response_key` of the item's run. */
  key: number;
  index: number;
  item: OutputItem;
  /** The run's status. */
  status: ResponseStatus;
}

/** Updates the index of words when items are saved or removed. The caller wraps writes in a transaction. */
export class ItemWords {
  readonly #add: StatementSync;
  readonly #has: StatementSync;
  readonly #remove: StatementSync;

  constructor(database: Pick<DatabaseSync, 'prepare'>) {
    this.#add = database.prepare('INSERT INTO item_words (rowid, words) VALUES (?, ?)');
    this.#has = database.prepare('SELECT 1 FROM item_words WHERE rowid = ?');
    this.#remove = database.prepare('DELETE FROM item_words WHERE rowid >= ? AND rowid < ?');
  }

  /**
   * Indexes an item once the item is final. A growing item is not indexed, because it would have to be indexed again
   * and again.
   */
  note({ key, index, item, status }: NotedItem, hasChanged: boolean): void {
    // An unchanged item is also indexed when its run ends, because it is final only then.
    if (index >= indexEnd || (!hasChanged && isUnderWay(status))) return;
    const row = key * indexEnd + index;
    if (this.#has.get(row) !== undefined) {
      if (!hasChanged) return;
      this.#remove.run(row, row + 1);
    }
    const words = isSettled(item, status) ? wordList(searchableText(item)) : '';
    if (words !== '') this.#add.run(row, words);
  }

  /** Removes the words of those items of a run that have at least a given index. */
  delete(key: number, fromIndex: number): void {
    this.#remove.run(key * indexEnd + fromIndex, (key + 1) * indexEnd);
  }
}

/** Indexes items that were stored before search existed. */
export function fillItemWords(connection: DatabaseSync): void {
  const words = new ItemWords(connection);
  const rows = connection.prepare(
    'SELECT response_key, item_index, item, head FROM items JOIN responses USING (response_key)',
  );
  for (const row of rows.iterate() as Iterable<unknown> as Iterable<FilledRow>) {
    const item = readItem(row.item, row.item_index);
    const { status } = readHead(row.head, { runId: '', sessionId: '' });
    words.note({ key: row.response_key, index: row.item_index, item, status }, true);
  }
}

interface FilledRow {
  response_key: number;
  item_index: number;
  /** The item as JSON. */
  item: string;
  head: string;
}
