/**
 * An agent may say the user's message back to it, in any number of chunks, while it stands in the turn already. Gives of
 * what the agent says in the user's name what is not that: chunks that repeat the message are held back until they
 * differ from it, or nothing more comes of them. An echo comes once, and before all that answers it.
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

  /** Something else was said: gives what was held back after all. From now on, what comes is no echo. */
  end(): string {
    const held = this.#expected.slice(0, this.#length);
    this.#expected = '';
    this.#length = 0;
    return held;
  }
}
