import { isSlowBlock } from '../look/text-pieces.ts';

/**
 * How much Markdown is rendered. Beyond these limits the parser and the page take more than linear time, or too deep a
 * stack; the rest is shown as plain text. Each limit was measured: at the limit, a block takes up to 100 ms to read and
 * to render, and ordinary Markdown comes nowhere near it.
 */
export const limits = {
  /** Nesting of quotes and lists; at a nesting of 2,000 the parser's stack overflows. */
  nesting: 40,
  /** Columns of a table. */
  columns: 100,
  /** Cells of a table, including cells that its rows leave out, which are also rendered. */
  cells: 2000,
  /**
   * Marks that may open or close something, in one paragraph, item or row; the parser compares each with the others.
   */
  marks: 1000,
  /** Marks that may open or close something, in a whole block. */
  blockMarks: 4000,
  /** `\(` and `\[` without an end, in one paragraph: the parser searches for the end of each. */
  openFormulas: 100,
  /** Letters in a block whose script takes more than linear time to lay out. */
  slowLetters: 8000,
  /** Lines of a block other than code. */
  blockLines: 1000,
  /** Characters of a block other than code. */
  blockLength: 32_000,
  /** Characters of a message. Beyond this limit, the rest of the message is plain text. */
  messageLength: 256_000,
  /**
   * Pieces of a message that end with a blank line, such as paragraphs. Beyond this limit, the rest of the message is
   * plain text.
   */
  messageBlocks: 3000,
  /** Links and footnotes that a message defines. Beyond this limit, the rest of the message is plain text. */
  definitions: 300,
  /** Characters, and blocks (`stepBlocks`), that are parsed in one step; the page stays responsive between steps. */
  step: 8000,
  stepBlocks: 100,
} as const;

/**
 * A line that begins an item or a heading, and so ends the paragraph before it. A line with more indent may continue
 * the paragraph before it.
 */
const beginsBlock = /^ {0,3}(?:[-+*]|#{1,6})[ \t]+\S/;
/** Containers that a line begins: quotes, list items and footnotes. */
const container = /[ \t]*(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)|\[\^[^\]\s]+\]:)/y;
/** The line between a table's head and its rows, without blanks. */
const tableRule = /^>*\|?:?-+:?(?:\|(?::?-+:?|:{0,2}))*$/;

/**
 * Why a piece of Markdown is shown as plain text, as the end of a sentence; undefined if it is rendered. Takes linear
 * time.
 */
export function whyPlain(text: string): string | undefined {
  if (text.length > limits.blockLength) return 'too long';
  if (isSlowBlock(text, limits.slowLetters)) return 'too long for its script';
  const lines = text.split('\n');
  if (lines.length > limits.blockLines) return 'too many lines';
  let before = '';
  let run = noMarks;
  let marks = 0;
  let table: { columns: number; rows: number } | undefined;
  for (const line of lines) {
    if (nestingOf(line) > limits.nesting) return 'nested too deeply';
    if (line.trim() === '') table = undefined;
    const columns = columnsBetween(before, line);
    if (columns > 0) table = { columns, rows: 0 };
    if (table !== undefined) {
      table.rows += 1;
      if (table.columns > limits.columns) return 'too many columns';
      if (table.columns * table.rows > limits.cells) return 'too many cells in a table';
    }
    const isFresh = table !== undefined || line.trim() === '' || beginsBlock.test(line);
    const sofar = isFresh ? noMarks : run;
    run = marksIn(line, sofar);
    marks += run.count - sofar.count;
    if (run.count > limits.marks || marks > limits.blockMarks) return 'too many marks';
    if (run.openFormulas > limits.openFormulas) return 'too many formulas without an end';
    before = line;
  }
  return undefined;
}

/** How many quotes and lists a line is in; if the line begins none itself, its indent shows how many it continues. */
function nestingOf(line: string): number {
  let depth = 0;
  let at = 0;
  for (;;) {
    container.lastIndex = at;
    const [found] = container.exec(line) ?? [];
    if (found === undefined) return depth;
    // Each list level indents by at least two columns.
    depth += 1 + Math.floor((found.length - 1) / 2) + tabsIn(found);
    at += found.length;
  }
}

function tabsIn(text: string): number {
  return text.split('\t').length - 1;
}

/** Columns of the table that has this line as its rule; 0 without a table. */
function columnsBetween(head: string, rule: string): number {
  if (!rule.includes('|') || !tableRule.test(rule.replaceAll(/[ \t]/g, ''))) return 0;
  const columns = columnsOf(rule);
  // A table's head must have as many cells as its rule.
  return columns === columnsOf(head) ? columns : 0;
}

function columnsOf(row: string): number {
  const cells = row.replace(/^[ \t>]*\|?/, '').replace(/\|[ \t]*$/, '');
  return cells.replaceAll('\\|', '').split('|').length;
}

interface Marks {
  count: number;
  openFormulas: number;
}

const noMarks: Marks = { count: 0, openFormulas: 0 };

/** Also counts marks that are escaped or in code, because only the parser can distinguish them. */
function marksIn(line: string, { count, openFormulas }: Marks): Marks {
  const marks = { count, openFormulas };
  for (const [mark] of line.matchAll(markPattern)) {
    if (mark === '\\(' || mark === '\\[') marks.openFormulas += 1;
    else if (mark === '\\)' || mark === '\\]') {
      marks.openFormulas = Math.max(0, marks.openFormulas - 1);
    } else if (mark !== '\\\\') marks.count += 1;
  }
  return marks;
}

/** Characters that may be marks; an underscore inside a word is never a mark. */
const markPattern = /\\[\\()[\]]|[*~[\]<`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}_])/gu;

/** How many characters of a message are rendered as Markdown: all of them, or those up to a blank line. */
export function drawnLength(text: string): number {
  let blocks = 0;
  let definitions = 0;
  let start = 0;
  while (start < text.length) {
    const end = nextBlank(text, start);
    blocks += 1;
    definitions += definitionsIn(text.slice(start, end));
    if (blocks > limits.messageBlocks || definitions > limits.definitions) return start;
    if (end > limits.messageLength) return start;
    start = end;
  }
  return text.length;
}

function definitionsIn(text: string): number {
  return text.includes(']:')
    ? (text.match(/^[ \t>*+\-\d.)]*\[[^\]\n\r\u2028\u2029]*\]:/gm)?.length ?? 0)
    : 0;
}

/** End of the piece of text that begins at `from`, including the blank lines after it. */
export function nextBlank(text: string, from: number): number {
  const word = /\S/g;
  word.lastIndex = from;
  const blank = /\n(?:[ \t]*\n)+/g;
  blank.lastIndex = word.exec(text)?.index ?? text.length;
  return blank.exec(text) === null ? text.length : blank.lastIndex;
}

/** End of the parsing step that begins at `from`. */
export function stepEnd(text: string, from: number): number {
  let end = from;
  for (let blocks = 0; blocks < limits.stepBlocks && end - from < limits.step; blocks += 1) {
    if (end >= text.length) return end;
    end = nextBlank(text, end);
  }
  return end;
}
