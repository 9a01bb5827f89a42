/** The number of pieces that are joined at a time. */
const bundle = 256;

/**
 * A text that grows by many small pieces; a few hundred pieces are joined at a time. Joining after each piece would
 * build a rope, which keeps each piece alive; under a flood of pieces the garbage collector would then take longer than
 * reading them.
 */
export class GrowingText {
  #pieces: string[] = [];
  #joined = '';

  add(piece: string): void {
    if (this.#pieces.push(piece) >= bundle) this.#join();
  }

  /** Returns the text so far, and clears the text. */
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
