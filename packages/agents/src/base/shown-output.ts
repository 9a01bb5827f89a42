import { headOf, tailOf } from '@liminal/protocol';

/**
 * How many characters of a program's output people see: the first `head` characters as they arrive and, if the output
 * is longer than `head` and `tail` together, also the last `tail` characters, at the end.
 */
const forPeople = { head: 256 * 1024, tail: 16 * 1024 };

/**
 * Shows the beginning of a program's output as it arrives, and the output's end when the program has ended. Thus a
 * program that floods its terminal does not flood the log or the model.
 */
export class ShownOutput {
  readonly #show: (text: string) => void;
  readonly #limits: { head: number; tail: number };
  #shown = 0;
  #left = 0;
  #tail = '';

  /** @param limits - In characters. */
  constructor(show: (text: string) => void, limits: { head: number; tail: number } = forPeople) {
    this.#show = show;
    this.#limits = limits;
  }

  add(text: string): void {
    const now = headOf(text, this.#left > 0 ? 0 : this.#limits.head - this.#shown);
    this.#shown += now.length;
    if (now !== '') this.#show(now);
    const later = text.slice(now.length);
    this.#left += later.length;
    if (later !== '') this.#tail = tailOf(this.#tail + later, this.#limits.tail);
  }

  end(): void {
    const hidden = this.#left - this.#tail.length;
    if (hidden > 0) this.#show(`\n[${hidden} characters left out]\n`);
    if (this.#tail !== '') this.#show(this.#tail);
  }
}
