/** Characters of a program's output that are shown as they come, and of its end when that is far from them. */
const shownHead = 256 * 1024;
const shownTail = 16 * 1024;

/**
 * What people are shown of a program's output: a program that floods its terminal shall not flood the log. The first
 * part goes by as it comes; of the rest the end is shown once the program has ended.
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
