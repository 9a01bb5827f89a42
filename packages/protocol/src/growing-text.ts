/** The number of pieces of text that are joined at a time. */
const bundle = 256;

/**
 * A text that grows by many small pieces. A few hundred pieces are joined at a time. If each piece were joined when it
 * arrives, the result would be a rope, which keeps each piece in memory; under a flood of pieces the garbage collector
 * would then take longer than reading the pieces.
 */
export class GrowingText {
  #pieces: string[] = [];
  #joined = '';

  add(piece: string): void {
    if (this.#pieces.push(piece) >= bundle) this.#join();
  }

  /** Returns the text so far, and empties this object. */
  take(): string {
    this.#join();
    const text = this.#joined;
    this.#joined = '';
    return text;
  }

  #join(): void {
    this.#joined += this.#pieces.join('');
    this.#pieces = [];
  }
}
