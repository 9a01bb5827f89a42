import { isSlowBlock } from '../look/text-pieces.ts';

/**
 * The limits up to which Markdown is rendered. Beyond these limits, the parser and the page take more than linear time,
 * or the stack becomes too deep, so the rest is shown as plain text. Each limit was measured: at the limit, a block
 * takes up to 100 ms to read and to render. Ordinary Markdown is far below all limits.
 */
export const limits = {
  /** The nesting of quotes and lists. At a nesting of 2,000, the parser's stack overflows. */
  nesting: 40,
  /** The columns of a table. */
  columns: 100,
  /** The cells of a table. Cells that a row leaves out count too, because they are also rendered. */
  cells: 2000,
  /**
   * The characters in one paragraph, item or row that may begin or end formatting. The parser compares each of them
   * with the others.
   */
  marks: 1000,
  /** The characters in a whole block that may begin or end formatting. */
  blockMarks: 4000,
  /** The number of `\(` and `\[` without an end in one paragraph. The parser searches for the end of each. */
  openFormulas: 100,
  /** The letters in a block whose layout takes more than linear time, as in some scripts. */
  slowLetters: 8000,
  /** The lines of a block that is not code. */
  blockLines: 1000,
  /** The characters of a block that is not code. */
  blockLength: 32_000,
  /** The characters of a message. Beyond this limit, the rest of the message is plain text. */
  messageLength: 256_000,
  /**
   * The pieces of a message that end with a blank line, such as paragraphs. Beyond this limit, the rest of the message
   * is plain text.
   */
  messageBlocks: 3000,
  /** The links and footnotes that a message defines. Beyond this limit, the rest of the message is plain text. */
  definitions: 300,
  /**
   * The characters (and, in `stepBlocks`, the blocks) that are parsed in one step. Between steps, the page can respond.
   */
  step: 8000,
  stepBlocks: 100,
} as const;

/**
 * Matches a line that begins an item or a heading, and therefore ends the paragraph before it. A line with more
 * indentation may continue the paragraph.
 */
const beginsBlock = /^ {0,3}(?:[-+*]|#{1,6})[ \t]+\S/;
/** Matches the start of each container that a line begins: a quote, a list item or a footnote. */
const container = /[ \t]*(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)|\[\^[^\]\s]+\]:)/y;
/** Matches the line between a table's head and its rows, without spaces. */
const tableRule = /^>*\|?:?-+:?(?:\|(?::?-+:?|:{0,2}))*$/;

/**
 * Returns why a piece of Markdown is shown as plain text, as the end of a sentence; undefined if the piece is rendered.
 * Takes linear time.
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

/**
 * Returns how many quotes and lists contain a line. If the line itself begins none, its indentation shows how many it
 * continues.
 */
function nestingOf(line: string): number {
  let depth = 0;
  let at = 0;
  for (;;) {
    container.lastIndex = at;
    const [found] = container.exec(line) ?? [];
    if (found === undefined) return depth;
    // Each level of a list indents by at least two columns.
    depth += 1 + Math.floor((found.length - 1) / 2) + tabsIn(found);
    at += found.length;
  }
}

function tabsIn(text: string): number {
  return text.split('\t').length - 1;
}

/** Returns the number of columns of the table whose rule is the line `rule`; 0 if there is no table. */
function columnsBetween(head: string, rule: string): number {
  if (!rule.includes('|') || !tableRule.test(rule.replaceAll(/[ \t]/g, ''))) return 0;
  const columns = columnsOf(rule);
  // A line is a table's head only if it has as many cells as the rule.
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

/**
 * Counts the marks in a line. Marks that are escaped or in code also count, because only the parser can distinguish
 * them.
 */
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

/** Matches characters that may be marks. An underscore inside a word is never a mark. */
const markPattern = /\\[\\()[\]]|[*~[\]<`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}_])/gu;

/** Returns how many characters of a message are rendered as Markdown: all of them, or those up to a blank line. */
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

/** Returns the end of the piece of text that begins at `from`, including the blank lines after it. */
export function nextBlank(text: string, from: number): number {
  const word = /\S/g;
  word.lastIndex = from;
  const blank = /\n(?:[ \t]*\n)+/g;
  blank.lastIndex = word.exec(text)?.index ?? text.length;
  return blank.exec(text) === null ? text.length : blank.lastIndex;
}

/** Returns the end of the parsing step that begins at `from`. */
export function stepEnd(text: string, from: number): number {
  let end = from;
  for (let blocks = 0; blocks < limits.stepBlocks && end - from < limits.step; blocks += 1) {
    if (end >= text.length) return end;
    end = nextBlank(text, end);
  }
  return end;
}
