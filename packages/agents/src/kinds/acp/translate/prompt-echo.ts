/**
 * Filters echoes: an agent may repeat the user's message, which the turn already has, in any number of chunks. Chunks
 * that repeat the message are held back until they differ from the message or end. An agent sends an echo at most once,
 * before any answer.
 */
export class PromptEcho {
  #expected: string;
  #length = 0;

  /** `sent` is the user's message; empty in a turn that the agent began. */
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

  /** Stops filtering, and returns the held-back text: later chunks are not an echo. */
  end(): string {
    const held = this.#expected.slice(0, this.#length);
    this.#expected = '';
    this.#length = 0;
    return held;
  }
}
