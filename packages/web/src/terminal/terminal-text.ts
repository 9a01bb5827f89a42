import { createAnsiSequenceParser, type ParseToken } from 'ansi-sequence-parser';

export type Style = Omit<ParseToken, 'value'>;

/** Characters with the same look. */
export interface Span {
  readonly text: string;
  /** The same object for the same look. */
  readonly style: Style;
}

/** Immutable: a line that is written to becomes another object. */
export type Line = readonly Span[];

/** Number of lines kept; older ones are dropped here. */
const keptLines = 20_000;
/** Characters read of a longer text: its end. */
const readCharacters = 4_000_000;
/** An escape sequence without an end after this many characters is not one. */
const longestSequence = 2_000;

/* oxlint-disable no-control-regex -- they are what is read here */
/** Cursor movements, styles, and sequences without a meaning on a page; by its groups. */
const control =
  /\u001B\[(?<parameters>[0-?]*)[ -/]*(?<final>[@-~])|\u001B(?:\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[PX^_][^\u001B]*\u001B\\|[ -/]*[0-OQ-WYZ\\`-~])|(?<key>[\n\r\b])|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;

/** An incomplete escape sequence at the end. */
const begun = /\u001B(?:\[[0-?]*[ -/]*|\][^\u0007\u001B]*\u001B?|[PX^_][^\u001B]*\u001B?|[ -/]*)?$/;
/* oxlint-enable no-control-regex */

/**
 * A program's output as a terminal shows it: with colours, and without what was overwritten. It is as wide as the
 * longest line, and never clears lines above, since people read them later.
 */
export class TerminalText {
  #text = '';
  #lines: Line[] = [[]];
  #forgotten = 0;
  #cursor = { row: 0, column: 0 };
  #parser = createAnsiSequenceParser();
  #styles = new Map<string, Style>();
  #unfinished = '';

  /** From the first kept line; the last one is empty after a line break. */
  get lines(): readonly Line[] {
    return this.#lines;
  }

  /** Number of lines before the kept ones. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Shows this text. If it continues the present text, only the new part is read. */
  show(text: string): void {
    if (text === this.#text) return;
    if (!text.startsWith(this.#text)) this.#reset();
    if (this.#text === '') this.#write(this.#skip(text));
    else this.#write(text.slice(this.#text.length));
    this.#text = text;
  }

  #reset(): void {
    this.#text = '';
    this.#lines = [[]];
    this.#forgotten = 0;
    this.#cursor = { row: 0, column: 0 };
    this.#parser = createAnsiSequenceParser();
    this.#unfinished = '';
  }

  /** Skips the beginning of a text that is too long. */
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
    const tail = begun.exec(text)?.[0] ?? '';
    this.#unfinished = tail.length > longestSequence ? '' : tail;
    const whole = text.slice(0, text.length - tail.length);
    let at = 0;
    for (const match of whole.matchAll(control)) {
      this.#put(whole.slice(at, match.index));
      this.#obey(match);
      at = match.index + match[0].length;
    }
    this.#put(whole.slice(at));
    this.#forget();
  }

  #obey({ groups: { key, final, parameters = '' } = {} }: RegExpExecArray): void {
    // Without a number it means "reset", which the parser knows only by its number.
    if (final === 'm') this.#parser.parse(`\u001B[${parameters || '0'}m`);
    else if (final !== undefined) this.#move(final, Number.parseInt(parameters, 10));
    else if (key === '\n') this.#goTo(this.#cursor.row + 1, 0);
    else if (key === '\r') this.#cursor.column = 0;
    else if (key === '\b') this.#cursor.column = Math.max(0, this.#cursor.column - 1);
  }

  /** Control sequences by their last letter; `given` is their number, or NaN. */
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
        if (!given) this.#lines.length = row + 1;
        return given ? undefined : this.#erase(0);
      case 'K':
        return this.#erase(given || 0);
      default:
        return undefined;
    }
  }

  /** Limits the cursor: not above the first line, nor absurdly far to the right. */
  #goTo(row: number, column: number): void {
    const furthest = { row: this.#lines.length + 100, column: 10_000 };
    this.#cursor = {
      row: Math.min(Math.max(0, row), furthest.row),
      column: Math.min(Math.max(0, column), Math.max(furthest.column, this.#cursor.column)),
    };
    while (this.#lines.length <= this.#cursor.row) this.#lines.push([]);
  }

  /** 0: from the cursor to the line's end; 1: from its beginning to the cursor; 2: the whole line. */
  #erase(part: number): void {
    const { row, column } = this.#cursor;
    const line = this.#lines[row] ?? [];
    if (part === 0) this.#lines[row] = sliceLine(line, 0, column);
    if (part === 2) this.#lines[row] = [];
    if (part === 1) {
      const blank = { text: ' '.repeat(column), style: plain };
      this.#lines[row] = joinSpans([blank], sliceLine(line, column, Infinity));
    }
  }

  #put(text: string): void {
    if (text === '') return;
    const { row, column } = this.#cursor;
    const line = this.#lines[row] ?? [];
    const length = lengthOf(line);
    const [{ value: _, ...look } = { value: '', ...plain }] = this.#parser.parse(text);
    const span = { text, style: this.#known(look) };
    const gap = column > length ? [{ text: ' '.repeat(column - length), style: plain }] : [];
    const before = column < length ? sliceLine(line, 0, column) : line;
    const after = column < length ? sliceLine(line, column + text.length, Infinity) : [];
    this.#lines[row] = joinSpans(joinSpans(joinSpans(before, gap), [span]), after);
    this.#cursor.column = column + text.length;
  }

  #known(style: Style): Style {
    const { foreground, background, decorations } = style;
    if (foreground === null && background === null && decorations.size === 0) return plain;
    const key = JSON.stringify([foreground, background, [...decorations].toSorted()]);
    const known = this.#styles.get(key);
    if (known === undefined) this.#styles.set(key, style);
    return known ?? style;
  }

  #forget(): void {
    const surplus = this.#lines.length - keptLines;
    // In batches, not one at a time.
    if (surplus < keptLines / 10) return;
    this.#lines.splice(0, surplus);
    this.#forgotten += surplus;
    this.#cursor.row = Math.max(0, this.#cursor.row - surplus);
  }
}

const plain: Style = { foreground: null, background: null, decorations: new Set() };

function lengthOf(line: Line): number {
  return line.reduce((length, { text }) => length + text.length, 0);
}

function sliceLine(line: Line, from: number, to: number): Line {
  const kept: Span[] = [];
  let at = 0;
  for (const { text, style } of line) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part !== '') kept.push({ text: part, style });
    at += text.length;
  }
  return kept;
}

/** Joins two lines; neighbouring spans with the same look become one. */
function joinSpans(first: Line, second: Line): Line {
  const [next, ...rest] = second;
  const last = first.at(-1);
  if (last === undefined || next === undefined) return last === undefined ? second : first;
  if (last.style !== next.style) return [...first, ...second];
  return [...first.slice(0, -1), { text: last.text + next.text, style: last.style }, ...rest];
}
