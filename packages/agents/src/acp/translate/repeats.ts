/** What some agents say twice, and nobody should read twice. Each is asked for by a quirk. */
import { GrowingText } from '@liminal/protocol';

/** Gives of each chunk what is to be shown. */
export interface RepeatFilter {
  pass: (chunk: string) => string;
  /** What was held back after all is no repetition: nothing follows. */
  flush: () => string;
}

export const nothingRepeats: RepeatFilter = { pass: (chunk) => chunk, flush: () => '' };

/** A word can well be said twice. */
const isMoreThanWord = (text: string): boolean => /\S\s+\S/.test(text);

const partBreak = '\n\n';

/**
 * Drops a chunk that is, from its first character to its last, a part that has been said, is more than a word, and has
 * not been dropped yet. A part is what stands between two chunks that are an empty line. The break before the first
 * part divides it from nothing, and is dropped too.
 */
export class RepeatedParts implements RepeatFilter {
  readonly #parts = new Set<string>();
  #current = new GrowingText();
  #currentLength = 0;
  #isAtStart = true;

  pass(chunk: string): string {
    if (chunk === partBreak) {
      this.#endPart();
      return this.#isAtStart ? '' : chunk;
    }
    if (this.#isRepeat(chunk)) return '';
    this.#isAtStart = false;
    this.#current.add(chunk);
    this.#currentLength += chunk.length;
    return chunk;
  }

  flush(): string {
    return '';
  }

  #isRepeat(chunk: string): boolean {
    if (!isMoreThanWord(chunk)) return false;
    if (chunk.length === this.#currentLength && chunk === this.#said()) this.#endPart();
    return this.#parts.delete(chunk);
  }

  #said(): string {
    const said = this.#current.take();
    this.#current.add(said);
    return said;
  }

  #endPart(): void {
    this.#parts.add(this.#current.take());
    this.#currentLength = 0;
  }
}

/** How much of an item's beginning is looked at before all of it is. */
const HEAD = 64;

/**
 * Drops a second saying of all that an item has said so far, in chunks however divided, and goes on with what follows
 * it. Chunks that repeat its beginning are held back until they differ, and then shown, or have reached the end. What
 * has been said must be more than a word and have broken off within a line: a line can well be said twice.
 */
export class RepeatedStart implements RepeatFilter {
  readonly #said: () => string;
  #head = '';
  /** While chunks are held back: what they are compared with, and how much of it they have repeated. */
  #again = { text: '', length: 0 };

  /** `said` gives the item's text so far. */
  constructor(said: () => string) {
    this.#said = said;
  }

  pass(chunk: string): string {
    const { text, length } = this.#again;
    if (length === 0) return this.#begin(chunk, '');
    const left = text.length - length;
    if (chunk.length < left && text.startsWith(chunk, length)) {
      this.#again = { text, length: length + chunk.length };
      return '';
    }
    if (chunk.startsWith(text.slice(length))) {
      this.#again = { text: '', length: 0 };
      return chunk.slice(left);
    }
    const held = this.flush();
    return held + this.#begin(chunk, held);
  }

  flush(): string {
    const { text, length } = this.#again;
    this.#again = { text: '', length: 0 };
    return text.slice(0, length);
  }

  /** `held` was held back until now, and is not among what has been said. */
  #begin(chunk: string, held: string): string {
    if (!this.#mayRepeat(chunk)) return this.#show(chunk);
    const text = this.#said() + held;
    if (text.endsWith('\n') || !isMoreThanWord(text)) return this.#show(chunk);
    if (chunk.startsWith(text)) return chunk.slice(text.length);
    if (!text.startsWith(chunk)) return this.#show(chunk);
    this.#again = { text, length: chunk.length };
    return '';
  }

  #mayRepeat(chunk: string): boolean {
    const length = Math.min(chunk.length, this.#head.length);
    return length > 0 && this.#head.slice(0, length) === chunk.slice(0, length);
  }

  #show(chunk: string): string {
    if (this.#head.length < HEAD) this.#head = (this.#head + chunk).slice(0, HEAD);
    return chunk;
  }
}
