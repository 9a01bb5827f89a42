/** The most characters of one line, and of all lines together. */
const maxLineLength = 2_000;
const maxLength = 100_000;

/** Collects the requested lines of a text that is read in parts, each line with its number, up to a size limit. */
export class NumberedLines {
  readonly #first: number;
  readonly #limit: number;
  /** The number of lines that have begun so far. */
  #count = 0;
  #shown: string[] = [];
  #length = 0;
  /** The state of the line that is being read: its beginning, its length, and whether a line is being read at all. */
  #line = '';
  #lineLength = 0;
  #isOpen = false;
  /** The number of the first line that was over the limit. */
  #next: number | undefined;
  #note = '';

  constructor(first: number, limit: number) {
    this.#first = first;
    this.#limit = limit;
  }

  /** The number of lines. */
  get total(): number {
    return this.#count;
  }

  /** The requested lines, with a note if more lines follow; empty if there are no such lines. */
  get text(): string {
    return this.#shown.length === 0 ? '' : this.#shown.join('\n') + this.#note;
  }

  add(text: string): void {
    for (let from = 0; from < text.length;) {
      const end = text.indexOf('\n', from);
      this.#grow(text, from, end < 0 ? text.length : end);
      if (end < 0) return;
      this.#endLine();
      from = end + 1;
    }
  }

  /** @param isEndOfFile - Whether `rest` is followed by the end of the file. */
  end(rest: string, isEndOfFile: boolean): void {
    this.add(rest);
    if (this.#isOpen) this.#endLine();
    const next = this.#next;
    const of = isEndOfFile ? String(this.#count) : `more than ${this.#count}`;
    if (next !== undefined) {
      const last = next - 1;
      this.#note = `\n(Lines ${this.#first} to ${last} of ${of}. To read on, set offset to ${next}.)`;
    } else if (!isEndOfFile) {
      this.#note = `\n(The file is too large to show more than these lines.)`;
    }
  }

  #grow(text: string, from: number, to: number): void {
    if (!this.#isOpen) this.#count += 1;
    this.#isOpen = true;
    const room = maxLineLength - this.#line.length;
    if (room > 0) this.#line += text.slice(from, Math.min(to, from + room));
    this.#lineLength += to - from;
  }

  #endLine(): void {
    if (!this.#isOpen) this.#count += 1;
    const [line, length] = [this.#line.replace(/\r$/, ''), this.#lineLength];
    this.#line = '';
    this.#lineLength = 0;
    this.#isOpen = false;
    if (this.#count < this.#first || this.#next !== undefined) return;
    const cut = length > maxLineLength ? `… (${length - maxLineLength} more characters)` : '';
    const shown = `${String(this.#count).padStart(6)}\t${line}${cut}`;
    const isFull =
      this.#shown.length === this.#limit ||
      (this.#shown.length > 0 && this.#length + shown.length > maxLength);
    if (isFull) {
      this.#next = this.#count;
      return;
    }
    this.#shown.push(shown);
    this.#length += shown.length;
  }
}
