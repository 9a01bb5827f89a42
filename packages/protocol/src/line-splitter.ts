/**
 * Splits a text that arrives in pieces into lines. Only a line feed ends a line: Node's readline would also end a line
 * at other characters, which may occur in a JSON string.
 */
export class LineSplitter {
  #rest = '';

  /** The text after the last line end. */
  get rest(): string {
    return this.#rest;
  }

  /** Returns the lines that `text` completes, without their ends. */
  push(text: string): string[] {
    const end = text.lastIndexOf('\n');
    // Search each piece of a long line only once.
    if (end === -1) {
      this.#rest += text;
      return [];
    }
    const lines = (this.#rest + text.slice(0, end)).split('\n');
    this.#rest = text.slice(end + 1);
    return lines;
  }
}
