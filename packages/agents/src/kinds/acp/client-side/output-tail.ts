/** The last bytes of a program's output, as UTF-8. The first character is always whole. */
export class OutputTail {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isTruncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  add(text: string): void {
    const chunk = Buffer.from(text);
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#limit) return;
    this.#isTruncated = true;
    // Do not join at every chunk: joining copies all kept bytes.
    if (this.#bytes > 2 * this.#limit) this.#join();
  }

  read(): string {
    return this.#join().toString('utf8');
  }

  #join(): Buffer {
    const all = Buffer.concat(this.#chunks);
    let start = Math.max(0, all.length - this.#limit);
    while (start < all.length && start > 0 && isContinuation(all[start])) start += 1;
    const tail = Buffer.from(all.subarray(start));
    this.#chunks = [tail];
    this.#bytes = tail.length;
    return tail;
  }
}

const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;
