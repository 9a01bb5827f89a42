/** How many pieces are joined at a time. */
const BUNDLE = 256;

/**
 * A text that grows by many small pieces. They are joined a few hundred at a time: concatenated one by one they would
 * make a rope, which keeps each piece alive, and under a flood moving those about takes longer than reading them did.
 */
export class GrowingText {
  #pieces: string[] = [];
  #joined = '';

  add(piece: string): void {
    if (this.#pieces.push(piece) >= BUNDLE) this.#join();
  }

  /** Gives what has gathered, and begins anew. */
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
