import type { TurnView } from '@liminal/client';

/** An agent's own words, written as they come. */
export class TextStream {
  readonly #write: (text: string) => void;
  readonly #written = new Map<string, string>();
  #atLineStart = true;
  #current: string | undefined;
  /** The end of what was said, which what comes next may change. */
  #held = '';

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Writes what a turn says beyond what has been written. */
  update(turn: TurnView): void {
    for (const item of turn.items) {
      if (item.type !== 'message' || item.origin === 'user' || item.parentCallId) continue;
      this.#continue(item.itemId, item.content);
    }
  }

  /** Ends the line that is under way, so that something else can be written. */
  breakLine(): void {
    this.#put(this.#held);
    this.#held = '';
    if (!this.#atLineStart) this.#put('\n');
  }

  #continue(itemId: string, content: string): void {
    const before = this.#written.get(itemId) ?? '';
    if (content === before) return;
    // A model call that was tried again may say something else: what is written stays, the new text follows.
    const isContinuation = content.startsWith(before) && this.#current === itemId;
    if (!isContinuation) this.breakLine();
    const said = this.#held + (content.startsWith(before) ? content.slice(before.length) : content);
    const settled = said.length - unsettled(said).length;
    this.#held = said.slice(settled);
    this.#put(said.slice(0, settled));
    this.#written.set(itemId, content);
    this.#current = itemId;
  }

  #put(text: string): void {
    if (text === '') return;
    this.#write(text);
    this.#atLineStart = text.endsWith('\n');
  }
}

const segmenter = new Intl.Segmenter();
/** Longer than what people see as one character (UTF-16 units). */
const reach = 64;

/** What must be written in one go with what follows: a character of several parts, the beginning of a sequence. */
function unsettled(text: string): string {
  const end = text.slice(-reach);
  const [begun] = /[\p{Cc}--[\n\t]](?:\[[0-?]*[ -\/]*)?$/v.exec(end) ?? [];
  if (begun !== undefined) return begun;
  const [half = ''] = /[\ud800-\udbff]$/.exec(end) ?? [];
  const last = [...segmenter.segment(end.slice(0, end.length - half.length))].at(-1)?.segment ?? '';
  return /^\p{ASCII}*$/u.test(last) ? half : last + half;
}
