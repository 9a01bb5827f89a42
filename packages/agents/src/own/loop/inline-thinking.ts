/**
 * Finds thinking in a model's text: `<think>…</think>` at the start of an answer. Qwen, DeepSeek and other models write
 * their thinking in this way, unless their server removes it. Some chat templates already contain the opening tag, so
 * that the answer has only the closing tag. Pure.
 */

/** A classified piece of the answer's text. */
export type TextPiece =
  | { kind: 'words' | 'thinking'; text: string }
  /** All earlier text of the answer was thinking. The thinking ends here. */
  | { kind: 'all thinking' };

const [open, close] = ['<think>', '</think>'];
const quotes = new Set(['"', "'", '“', '‘']);

/** The most white-space characters before an opening tag. */
const maxSpace = 1_000;

/** Reads the text of one answer, in pieces of any size. */
export class InlineThinking {
  #state: 'start' | 'thinking' | 'after thinking' | 'words' | 'settled' = 'start';
  /** Text that may be the start of a tag, or white space whose kind is not known yet. */
  #held = '';
  /** The last line of the answer's text so far, without thinking. */
  #line = '';
  /** Whether the text so far has an open code block. */
  #isCode = false;

  /**
   * Returns the pieces whose kind is now known.
   * @param text - The next part of the answer.
   */
  read(text: string): TextPiece[] {
    this.#held += text;
    const pieces: TextPiece[] = [];
    for (let before = ''; before !== this.#state;) {
      before = this.#state;
      pieces.push(...this.#step());
    }
    return pieces.filter((piece) => piece.kind === 'all thinking' || piece.text !== '');
  }

  /** Called at the end of the answer. Returns the text that was held back. */
  end(): TextPiece[] {
    const text = this.#held;
    this.#held = '';
    const isSpace = this.#state === 'after thinking';
    if (text === '' || isSpace) return [];
    return [{ kind: this.#state === 'thinking' ? 'thinking' : 'words', text }];
  }

  #step(): TextPiece[] {
    switch (this.#state) {
      case 'start':
        return this.#start();
      case 'thinking':
        return this.#think();
      case 'after thinking':
        return this.#afterThinking();
      case 'words':
        return this.#words();
      case 'settled':
        return [{ kind: 'words', text: this.#take(this.#held.length) }];
    }
  }

  #start(): TextPiece[] {
    const text = this.#held.trimStart();
    if (text.startsWith(open)) {
      this.#held = text.slice(open.length);
      this.#state = 'thinking';
    } else if (!open.startsWith(text) || this.#held.length > maxSpace) this.#state = 'words';
    return [];
  }

  #think(): TextPiece[] {
    const at = this.#held.indexOf(close);
    if (at < 0) return [{ kind: 'thinking', text: this.#take(sureLength(this.#held)) }];
    const text = this.#take(at);
    this.#take(close.length);
    this.#state = 'after thinking';
    return [{ kind: 'thinking', text }];
  }

  #afterThinking(): TextPiece[] {
    this.#held = this.#held.trimStart();
    if (this.#held !== '') this.#state = 'settled';
    return [];
  }

  /**
   * Returns the next pieces of the text. A closing tag means that the text before it was thinking, unless the tag is
   * quoted.
   */
  #words(): TextPiece[] {
    const at = this.#held.indexOf(close);
    const opened = this.#held.indexOf(open);
    if (opened >= 0 && (at < 0 || opened < at)) {
      this.#state = 'settled';
      return [];
    }
    if (at < 0) return [{ kind: 'words', text: this.#takeText(sureLength(this.#held)) }];
    const text = this.#takeText(at);
    if (this.#isQuoted) {
      this.#state = 'settled';
      return [{ kind: 'words', text }];
    }
    this.#take(close.length);
    this.#state = 'after thinking';
    return [{ kind: 'words', text }, { kind: 'all thinking' }];
  }

  #takeText(length: number): string {
    const text = this.#take(length);
    const [first = '', ...lines] = text.split('\n');
    this.#line += first;
    for (const line of lines) {
      if (isFence(this.#line)) this.#isCode = !this.#isCode;
      this.#line = line;
    }
    return text;
  }

  /** Whether the text that follows is quoted, or is code. */
  get #isQuoted(): boolean {
    const isSpan = this.#line.split('`').length % 2 === 0;
    return this.#isCode || isFence(this.#line) || isSpan || quotes.has(this.#line.at(-1) ?? '');
  }

  #take(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }
}

const isFence = (line: string): boolean => line.trimStart().startsWith('```');

/** Returns the length of the text without the last characters if these may be the start of a tag. */
function sureLength(text: string): number {
  const last = text.slice(-close.length);
  for (let from = 0; from < last.length; from += 1) {
    const end = last.slice(from);
    if (close.startsWith(end) || open.startsWith(end)) return text.length - end.length;
  }
  return text.length;
}
