/** How many pieces are joined at a time. */
const bundle = 256;

/**
 * A text that grows by many small pieces, which are joined a few hundred at a time. Adding them one by one would build
 * a rope, which keeps each piece alive, and under a flood the garbage collector would then take longer than the
 * reading.
 */
export class GrowingText {
  #pieces: string[] = [];
  #joined = '';

  add(piece: string): void {
    if (this.#pieces.push(piece) >= bundle) this.#join();
  }

  /** Returns the text so far, and starts over. */
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
