/** How many characters of a program's output are shown as they come, and how many of a far end. */
const shownHead = 256 * 1024;
const shownTail = 16 * 1024;

/**
 * The part of a program's output that people are shown, so that a program that floods its terminal does not flood the
 * log: the first part as it comes, and the end once the program has ended.
 */
export class ShownOutput {
  readonly #show: (text: string) => void;
  #shown = 0;
  #left = 0;
  #tail = '';

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  add(text: string): void {
    const now = text.slice(0, shownHead - this.#shown);
    this.#shown += now.length;
    if (now !== '') this.#show(now);
    const later = text.slice(now.length);
    this.#left += later.length;
    if (later !== '') this.#tail = (this.#tail + later).slice(-shownTail);
  }

  end(): void {
    const hidden = this.#left - this.#tail.length;
    if (hidden > 0) this.#show(`\n[${hidden} characters left out]\n`);
    if (this.#tail !== '') this.#show(this.#tail);
  }
}
