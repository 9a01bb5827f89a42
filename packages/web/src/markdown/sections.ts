import { nextBlank, whyPlain } from './limits.ts';

/** A section of a message: Markdown for the parser, or text that does not go through the parser. */
export interface Section {
  raw: string;
  /** The reason why the section is shown as plain text; undefined if it is not. */
  plain?: string;
  /** A fenced code block that is too large for the parser. */
  code?: { text: string; lang: string; open: boolean };
}

/**
 * Splits a text into sections, so that text which the parser cannot handle is in sections of its own. Most texts are
 * one section. Joining the sections gives the text, and no section is blank unless the whole text is blank.
 */
export function sectionsOf(text: string): Section[] {
  const isGood = [...pieces(text, false)].every((piece) => whyPlain(piece) === undefined);
  if (isGood) return [{ raw: text }];
  const sections: Section[] = [];
  for (const piece of pieces(text, true)) {
    const section = toSection(piece);
    const last = sections.at(-1);
    const joins = section.code === undefined && last !== undefined && last.code === undefined;
    if (joins && (section.plain === undefined) === (last.plain === undefined)) {
      last.raw += piece;
    } else sections.push(section);
  }
  return sections;
}

function toSection(raw: string): Section {
  const plain = whyPlain(raw);
  if (plain === undefined) return { raw };
  const fence = fenceFrom(raw, 0, raw.length);
  if (fence === undefined || !/^[ \t\n]*$/.test(raw.slice(0, fence.at))) return { raw, plain };
  const inside = raw.slice(fence.end);
  const end = closing(fence.mark, inside);
  const text = inside.slice(0, end?.index).replace(/^\n/, '');
  return { raw, code: { text, lang: fence.lang, open: end === null } };
}

/** The line that begins a code block. */
interface Fence {
  at: number;
  /** The end of the line, before the newline. */
  end: number;
  mark: string;
  lang: string;
}

/**
 * Returns the first line at or after `start` (the start of a line) that begins a code block outside of any list or
 * quote.
 */
function fenceFrom(text: string, start: number, end: number): Fence | undefined {
  for (let at = start; at < end;) {
    const newline = text.indexOf('\n', at);
    const stop = newline < 0 || newline > end ? end : newline;
    const line = text.slice(at, stop);
    const [mark] = /^(?:`{3,}|~{3,})/.exec(line) ?? [];
    if (mark !== undefined && !line.includes('`', mark.length)) {
      const [lang = ''] = line
        .slice(mark.length)
        .replace(/^[ \t]+/, '')
        .split(/\s/, 1);
      return { at, end: stop, mark, lang };
    }
    at = stop + 1;
  }
  return undefined;
}

/**
 * Returns the pieces of a text between blank lines. With `fenced`, a whole code block is one piece, even if it contains
 * blank lines.
 */
function* pieces(text: string, fenced: boolean): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = nextBlank(text, start);
    if (fenced) end = fencedEnd(text, start, end);
    yield text.slice(start, end);
    start = end;
  }
}

/**
 * Returns the end of a piece. If the piece begins with a code block, this is the end of the code block; if a code block
 * begins inside the piece, the start of the code block.
 */
function fencedEnd(text: string, start: number, end: number): number {
  const fence = fenceFrom(text, start, end);
  if (fence === undefined) return end;
  if (text.slice(start, fence.at).trim() !== '') return fence.at;
  const close = closing(fence.mark, text.slice(fence.at));
  if (close === null) return text.length;
  const after = fence.at + close.index + close[0].length;
  const blank = /\s*?\n(?:[ \t]*\n)*/y;
  blank.lastIndex = after;
  return blank.test(text) ? blank.lastIndex : text.length;
}

/** Returns the line that ends a code block, with the newline before it. */
function closing(mark: string, text: string): RegExpExecArray | null {
  return new RegExp(`\\n {0,3}${mark}${mark[0]}*[ \\t]*(?=\\n|$)`).exec(text);
}
