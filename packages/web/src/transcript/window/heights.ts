import type { TurnRow } from './turn-rows.ts';

/** The heights of rows (px): as they were last measured, or, if they were never measured, estimated. */
export class Heights {
  readonly #measured = new Map<string, number>();
  /** The keys of rows whose height has changed since the tops were computed. */
  readonly #changed = new Set<string>();
  #rows: readonly TurnRow[] = [];
  #tops = new Float64Array(1);

  measure(key: string, height: number): void {
    if (this.#measured.get(key) === height) return;
    this.#measured.set(key, height);
    this.#changed.add(key);
  }

  of(row: TurnRow): number {
    return this.#measured.get(row.key) ?? likelyHeight(row);
  }

  /**
   * Returns the top of each row (px below the top of the first row), with one more entry than there are rows. The tops
   * are computed again only from the first changed row on, and this is usually one of the last rows.
   */
  tops(rows: readonly TurnRow[]): Float64Array {
    const first = this.#firstChanged(rows);
    if (first === rows.length && rows.length === this.#rows.length) return this.#tops;
    const tops = new Float64Array(rows.length + 1);
    tops.set(this.#tops.subarray(0, first + 1));
    let top = tops[first] ?? 0;
    for (let index = first; index < rows.length; index += 1) {
      top += this.of(rows[index] as TurnRow);
      tops[index + 1] = top;
    }
    this.#rows = rows;
    this.#tops = tops;
    this.#changed.clear();
    return tops;
  }

  /** Returns the index of the first row that is new, or whose height has changed, since the tops were computed. */
  #firstChanged(rows: readonly TurnRow[]): number {
    const known = Math.min(rows.length, this.#rows.length);
    let first = 0;
    while (first < known && rows[first] === this.#rows[first]) first += 1;
    let left = this.#changed.size;
    for (let index = rows.length - 1; left > 0 && index >= 0; index -= 1) {
      if (!this.#changed.has((rows[index] as TurnRow).key)) continue;
      left -= 1;
      first = Math.min(first, index);
    }
    return first;
  }
}

/** Returns the index of the row at a position (px below the top of the first row). */
export function rowAt(tops: Float64Array, place: number): number {
  let low = 0;
  let high = tops.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The height of a folded row, including the space below it. */
const folded = 42;
const lineHeight = 24;
const lineLength = 95;

export function likelyHeight({ row }: TurnRow): number {
  if (row?.kind !== 'item' || row.item.type !== 'message') return folded;
  const { content } = row.item;
  const long = Math.ceil(content.length / lineLength) + 1;
  return folded + lineHeight * Math.min(long, 400);
}
