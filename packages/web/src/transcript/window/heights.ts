import type { TurnRow } from './turn-rows.ts';

/** Heights of rows (px): as last measured, else estimated. */
export class Heights {
  readonly #measured = new Map<string, number>();
  #rows: readonly TurnRow[] = [];
  #tops: Float64Array | undefined;

  measure(key: string, height: number): void {
    if (this.#measured.get(key) === height) return;
    this.#measured.set(key, height);
    this.#tops = undefined;
  }

  of(row: TurnRow): number {
    return this.#measured.get(row.key) ?? likelyHeight(row);
  }

  /** Top of each row below the top of the first; one more entry than there are rows. */
  tops(rows: readonly TurnRow[]): Float64Array {
    if (this.#tops !== undefined && this.#rows === rows) return this.#tops;
    const tops = new Float64Array(rows.length + 1);
    let top = 0;
    for (const [index, row] of rows.entries()) {
      tops[index] = top;
      top += this.of(row);
    }
    tops[rows.length] = top;
    this.#rows = rows;
    this.#tops = tops;
    return tops;
  }
}

/** The index of the row at a place (px below the top of the first row). */
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

/** Height of a folded row, including the space to the next. */
const folded = 42;
const lineHeight = 24;
const lineLength = 95;

export function likelyHeight({ row }: TurnRow): number {
  if (row?.kind !== 'item' || row.item.type !== 'message') return folded;
  const { content } = row.item;
  const long = Math.ceil(content.length / lineLength) + 1;
  return folded + lineHeight * Math.min(long, 400);
}
