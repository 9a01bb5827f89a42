import type { TurnView } from '@liminal/client';
import { printable } from './lines.ts';

/** An agent's own words, written as they come. */
export class TextStream {
  readonly #write: (text: string) => void;
  readonly #written = new Map<string, string>();
  #atLineStart = true;
  #current: string | undefined;

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
    if (!this.#atLineStart) this.#put('\n');
  }

  #continue(itemId: string, content: string): void {
    const before = this.#written.get(itemId) ?? '';
    if (content === before) return;
    // A model call that was tried again may say something else: what is written stays, the new text follows.
    const isContinuation = content.startsWith(before) && this.#current === itemId;
    if (!isContinuation) this.breakLine();
    this.#put(printable(content.startsWith(before) ? content.slice(before.length) : content));
    this.#written.set(itemId, content);
    this.#current = itemId;
  }

  #put(text: string): void {
    if (text === '') return;
    this.#write(text);
    this.#atLineStart = text.endsWith('\n');
  }
}
