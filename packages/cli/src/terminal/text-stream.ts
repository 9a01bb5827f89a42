import type { TurnView } from '@liminal/client';

/** Writes an agent's text as it arrives. */
export class TextStream {
  readonly #write: (text: string) => void;
  readonly #written = new Map<string, string>();
  #atLineStart = true;
  #current: string | undefined;
  /** The end of the text so far. The next part of the text may change how this end must be written. */
  #held = '';

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Writes the part of a turn's text that has not been written yet. */
  update(turn: TurnView): void {
    for (const item of turn.items) {
      if (item.type !== 'message' || item.origin === 'user' || item.parentCallId) continue;
      this.#continue(item.itemId, item.content);
    }
  }

  /** Ends the current line, so that other text can follow. */
  breakLine(): void {
    this.#put(this.#held);
    this.#held = '';
    if (!this.#atLineStart) this.#put('\n');
  }

  #continue(itemId: string, content: string): void {
    const before = this.#written.get(itemId) ?? '';
    if (content === before) return;
    // If a model call is repeated, the new text may differ from the first text: the written text stays, and the new
    // text follows.
    const isContinuation = content.startsWith(before) && this.#current === itemId;
    if (!isContinuation) this.breakLine();
    const text = this.#held + (content.startsWith(before) ? content.slice(before.length) : content);
    const settled = text.length - unsettled(text).length;
    this.#held = text.slice(settled);
    this.#put(text.slice(0, settled));
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
/** How far back the search for an incomplete character goes, in UTF-16 units. No visible character is longer. */
const reach = 64;

/**
 * Returns the last part of a text if this part may be an incomplete character or escape sequence. It must be written
 * together with the text that follows.
 */
function unsettled(text: string): string {
  const end = text.slice(-reach);
  const [begun] = /[\p{Cc}--[\n\t]](?:\[[0-?]*[ -\/]*)?$/v.exec(end) ?? [];
  if (begun !== undefined) return begun;
  const [half = ''] = /[\ud800-\udbff]$/.exec(end) ?? [];
  const last = [...segmenter.segment(end.slice(0, end.length - half.length))].at(-1)?.segment ?? '';
  return /^\p{ASCII}*$/u.test(last) ? half : last + half;
}
