import { createAnsiSequenceParser, type ParseToken } from 'ansi-sequence-parser';

export type Style = Omit<ParseToken, 'value'>;

/** A piece of text whose characters have the same look. */
export interface StyledSpan {
  readonly text: string;
  /** The look of the characters. Equal styles are the same object. */
  readonly style: Style;
}

/** A line of the output. A line is immutable: writing to it makes a new object. */
export interface TerminalLine {
  readonly spans: readonly StyledSpan[];
  /** The number of characters, including characters that are not kept because the line is too long. */
  readonly length: number;
  /** Whether the kept part of the line is blank. */
  readonly isBlank: boolean;
}

/** The most characters of a line that are kept, because browsers cannot lay out a line of a million characters. */
const longestLine = 10_000;
/** The number of lines that are kept. Older lines are removed. */
const maxLines = 20_000;
/** The number of characters that are read. Of a longer text, only the end is read. */
const readCharacters = 4_000_000;
/** How far a cursor may move away from all text: to this column, and to this many lines below the last line. */
const furthest = { column: 250, below: 100 };

/**
 * A sequence without an end within 2,000 characters is not an escape sequence. Both expressions take linear time: every
 * sequence begins with an escape character, which occurs at no other index of the sequence.
 */
/* oxlint-disable no-control-regex -- they are what is read here */
/**
 * Matches cursor movements, styles, and sequences that have no meaning on a page. The named groups distinguish the
 * three.
 */
const control =
  /\u001B\[(?<parameters>[0-?]{0,2000})[ -/]{0,9}(?<final>[@-~])|\u001B(?:\][^\u0007\u001B]{0,2000}(?:\u0007|\u001B\\)|[PX^_][^\u001B]{0,2000}\u001B\\|[ -/]{0,9}[0-OQ-WYZ\\`-~])|(?<key>[\n\r\b])|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;

/** Matches an incomplete escape sequence at the end of a text. */
const begun =
  /\u001B(?:\[[0-?]{0,2000}[ -/]{0,9}|\][^\u0007\u001B]{0,2000}\u001B?|[PX^_][^\u001B]{0,2000}\u001B?|[ -/]{0,9})?$/;
/* oxlint-enable no-control-regex */

/**
 * A program's output as a terminal shows it: with colours, and without overwritten text. The terminal is as wide as the
 * longest line. It never clears earlier lines, because people read them later. The time for reading is proportional to
 * the length of the added text, whatever control sequences the text contains.
 */
export class TerminalText {
  #text = '';
  #lines: TerminalLine[] = [empty];
  /** The lines to which the program can still write, by their number from the first line of the output. */
  #open = new Map<number, OpenLine>();
  #forgotten = 0;
  #cursor = { row: 0, column: 0 };
  #parser = createAnsiSequenceParser();
  #style = plain;
  #styles = new Map<string, Style>();
  #unfinished = '';

  /** Returns the kept lines. After a line break, the last line is empty. */
  get lines(): readonly TerminalLine[] {
    return this.#lines;
  }

  /** Returns the number of removed lines, which came before the kept lines. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Shows this text. If the text continues the shown text, only the added part is read. */
  show(text: string): void {
    if (text === this.#text) return;
    // `slice` is faster than `startsWith`, which compares character by character.
    if (text.slice(0, this.#text.length) !== this.#text) this.#reset();
    if (this.#text === '') this.#write(this.#skip(text));
    else this.#write(text.slice(this.#text.length));
    this.#text = text;
  }

  #reset(): void {
    this.#text = '';
    this.#lines = [empty];
    this.#forgotten = 0;
    this.#cursor = { row: 0, column: 0 };
    this.#parser = createAnsiSequenceParser();
    this.#style = plain;
    this.#unfinished = '';
  }

  /** Returns the end of a text that is too long, and skips its beginning. */
  #skip(text: string): string {
    if (text.length <= readCharacters) return text;
    const start = text.indexOf('\n', text.length - readCharacters) + 1;
    for (let at = text.indexOf('\n'); at >= 0 && at < start; at = text.indexOf('\n', at + 1)) {
      this.#forgotten += 1;
    }
    return text.slice(start);
  }

  #write(added: string): void {
    const text = this.#unfinished + added;
    this.#unfinished = begun.exec(text)?.[0] ?? '';
    const complete = text.slice(0, text.length - this.#unfinished.length);
    let at = 0;
    for (const match of complete.matchAll(control)) {
      this.#put(complete.slice(at, match.index));
      this.#execute(match);
      at = match.index + match[0].length;
    }
    this.#put(complete.slice(at));
    this.#close();
  }

  #execute({ groups: { key, final, parameters = '' } = {} }: RegExpExecArray): void {
    if (final === 'm') this.#restyle(parameters);
    else if (final !== undefined) this.#move(final, Number.parseInt(parameters, 10));
    else if (key === '\n') this.#goTo(this.#cursor.row + 1, 0);
    else if (key === '\r') this.#cursor.column = 0;
    else if (key === '\b') this.#cursor.column = Math.max(0, this.#cursor.column - 1);
  }

  #restyle(parameters: string): void {
    // A sequence without a number means "reset", for which the parser needs a 0. The parser returns a style only
    // together with a text.
    const [token] = this.#parser.parse(`\u001B[${parameters || '0'}m.`);
    this.#style = token === undefined ? plain : this.#known(token);
  }

  /**
   * Runs a control sequence. `final` is the last letter of the sequence, and `given` its number, or NaN if it has none.
   */
  #move(final: string, given: number): void {
    const { row, column } = this.#cursor;
    const by = Math.max(1, given || 1);
    switch (final) {
      case 'A':
        return this.#goTo(row - by, column);
      case 'B':
        return this.#goTo(row + by, column);
      case 'C':
        return this.#goTo(row, column + by);
      case 'D':
        return this.#goTo(row, column - by);
      case 'E':
        return this.#goTo(row + by, 0);
      case 'F':
        return this.#goTo(row - by, 0);
      case 'G':
        return this.#goTo(row, by - 1);
      case 'J':
        if (!given) this.#dropBelow(row);
        return given ? undefined : this.#erase(0);
      case 'K':
        return this.#erase(given || 0);
      default:
        return undefined;
    }
  }

  /** Moves the cursor, but not above the first line and not far away from all text. */
  #goTo(row: number, column: number): void {
    this.#cursor.row = Math.min(Math.max(0, row), this.#lines.length + furthest.below);
    while (this.#lines.length <= this.#cursor.row) this.#lines.push(empty);
    this.#forget();
    const limit = Math.max(furthest.column, this.#lengthHere());
    this.#cursor.column = Math.min(Math.max(0, column), limit);
  }

  #lengthHere(): number {
    const { row } = this.#cursor;
    const line = this.#open.get(this.#forgotten + row) ?? this.#lines[row];
    return line?.length ?? 0;
  }

  #dropBelow(row: number): void {
    for (let below = row + 1; below < this.#lines.length; below += 1) {
      this.#open.delete(this.#forgotten + below);
    }
    this.#lines.length = row + 1;
  }

  /**
   * Erases a part of the line: 0 from the cursor to the line's end, 1 from the line's beginning to the cursor, 2 the
   * whole line.
   */
  #erase(part: number): void {
    const { row, column } = this.#cursor;
    if (part === 0) this.#opened().cut(column);
    if (part === 1) this.#opened().clear(column);
    if (part === 2) this.#opened().cut(0);
    this.#goTo(row, column);
  }

  #put(text: string): void {
    if (text === '') return;
    this.#opened().put(this.#cursor.column, text, this.#style);
    this.#cursor.column += text.length;
  }

  /** Returns the line of the cursor, ready for writing. */
  #opened(): OpenLine {
    const { row } = this.#cursor;
    const number = this.#forgotten + row;
    let line = this.#open.get(number);
    if (line === undefined) {
      line = new OpenLine(this.#lines[row] ?? empty);
      this.#open.set(number, line);
    }
    return line;
  }

  #close(): void {
    for (const [number, line] of this.#open) {
      this.#lines[number - this.#forgotten] = line.close();
    }
    this.#open.clear();
  }

  #known({ foreground, background, decorations }: Style): Style {
    if (foreground === null && background === null && decorations.size === 0) return plain;
    const key = JSON.stringify([foreground, background, [...decorations].toSorted()]);
    const known = this.#styles.get(key) ?? { foreground, background, decorations };
    this.#styles.set(key, known);
    return known;
  }

  #forget(): void {
    const surplus = this.#lines.length - maxLines;
    // Remove lines in batches, because removing them one by one would be slow.
    if (surplus < maxLines / 10) return;
    for (let row = 0; row < surplus; row += 1) this.#open.delete(this.#forgotten + row);
    this.#lines.splice(0, surplus);
    this.#forgotten += surplus;
    this.#cursor.row = Math.max(0, this.#cursor.row - surplus);
  }
}

const plain: Style = { foreground: null, background: null, decorations: new Set() };

const empty: TerminalLine = { spans: [], length: 0, isBlank: true };

const blank = ' '.charCodeAt(0);
/** The characters and styles that fill the gap between a line's text and a text further right. */
const blanks = {
  characters: Array.from({ length: furthest.column }, () => blank),
  styles: Array.from({ length: furthest.column }, () => plain),
};

/** A line to which the program can still write: a character and its style for each column. */
class OpenLine {
  #characters: number[] = [];
  #styles: Style[] = [];
  /** The first columns of the line, up to this number, are known to be blank. */
  #blank = 0;
  #length = 0;

  constructor({ spans, length }: TerminalLine) {
    for (const { text, style } of spans) this.put(this.#length, text, style);
    this.#length = length;
  }

  get length(): number {
    return this.#length;
  }

  put(column: number, text: string, style: Style): void {
    if (column > this.#length) this.#fill(column);
    const end = Math.min(column + text.length, longestLine);
    for (let at = column; at < end; at += 1) {
      this.#characters[at] = text.charCodeAt(at - column);
      this.#styles[at] = style;
    }
    this.#blank = Math.min(this.#blank, column);
    this.#length = Math.max(this.#length, column + text.length);
  }

  /** Adds spaces up to a column. */
  #fill(column: number): void {
    const gap = column - this.#length;
    this.#characters = this.#characters.concat(blanks.characters.slice(0, gap));
    this.#styles = this.#styles.concat(blanks.styles.slice(0, gap));
  }

  /** Erases the line from a column to its end. */
  cut(column: number): void {
    this.#length = Math.min(this.#length, column);
    this.#blank = Math.min(this.#blank, column);
    this.#characters.length = Math.min(this.#characters.length, column);
    this.#styles.length = this.#characters.length;
  }

  /** Erases the line from its beginning to a column. */
  clear(column: number): void {
    if (column >= this.#length) return this.cut(0);
    const end = Math.min(column, longestLine);
    for (let at = this.#blank; at < end; at += 1) {
      this.#characters[at] = blank;
      this.#styles[at] = plain;
    }
    this.#blank = Math.max(this.#blank, end);
    return undefined;
  }

  close(): TerminalLine {
    const spans: StyledSpan[] = [];
    let from = 0;
    for (let at = 1; at <= this.#styles.length; at += 1) {
      const style = this.#styles[from] ?? plain;
      if (this.#styles[at] === style) continue;
      const text = String.fromCharCode(...this.#characters.slice(from, at));
      spans.push({ text, style });
      from = at;
    }
    const isBlank = spans.every(({ text }) => text.trim() === '');
    return { spans, length: this.#length, isBlank };
  }
}
