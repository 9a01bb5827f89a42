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
    // Search only the new piece of text, because a long line arrives in many pieces.
    const lines = text.split('\n');
    lines[0] = this.#rest + (lines[0] ?? '');
    this.#rest = lines.pop() ?? '';
    return lines;
  }
}
