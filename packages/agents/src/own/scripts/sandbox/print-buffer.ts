/**
 * A text that one thread writes and another thread reads, even if the writing thread was ended. If the text is too long
 * for the memory, its end is dropped.
 */
export class PrintBuffer {
  readonly #length: Int32Array;
  readonly #text: Buffer;
  /** The shared memory, from which the other thread makes its own `PrintBuffer`. */
  readonly memory: SharedArrayBuffer;

  /**
   * @param of - The most characters (UTF-16 code units), or the memory of another `PrintBuffer`, which is then shared.
   */
  constructor(of: number | SharedArrayBuffer) {
    this.memory = typeof of === 'number' ? new SharedArrayBuffer(4 + 2 * of) : of;
    this.#length = new Int32Array(this.memory, 0, 1);
    this.#text = Buffer.from(this.memory, 4);
  }

  /** Adds text. Returns whether there was enough memory for the whole text. */
  add(text: string): boolean {
    const at = 2 * Atomics.load(this.#length, 0);
    const written = this.#text.write(text, at, 'utf16le');
    Atomics.add(this.#length, 0, written / 2);
    return written === 2 * text.length;
  }

  read(): string {
    return this.#text.toString('utf16le', 0, 2 * Atomics.load(this.#length, 0));
  }
}
