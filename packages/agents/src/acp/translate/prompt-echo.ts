/**
 * An agent may repeat the user's message, in any number of chunks, though it is in the turn already. Filters that echo:
 * chunks that repeat the message are held back until they differ from it or end. An echo comes once, before anything
 * that answers the message.
 */
export class PromptEcho {
  #expected: string;
  #length = 0;

  /** `sent` is what the user wrote; empty in a turn that the agent began. */
  constructor(sent: string) {
    this.#expected = sent;
  }

  pass(chunk: string): string {
    if (chunk !== '' && this.#expected.startsWith(chunk, this.#length)) {
      this.#length += chunk.length;
      if (this.#length === this.#expected.length) this.#expected = '';
      return '';
    }
    return this.end() + chunk;
  }

  /** Something else was said: returns what was held back. Later chunks are not an echo. */
  end(): string {
    const held = this.#expected.slice(0, this.#length);
    this.#expected = '';
    this.#length = 0;
    return held;
  }
}
