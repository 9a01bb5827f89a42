import { nextBlank, whyPlain } from './limits.ts';

/** A part of a message: Markdown for the parser, or text that is kept from it. */
export interface Section {
  raw: string;
  /** Why it is shown as plain text. */
  plain?: string;
  /** A fenced code block that would be too much for the parser otherwise. */
  code?: { text: string; lang: string; open: boolean };
}

/**
 * Keeps from the parser what it cannot handle. Most text is one section. The sections joined are the text, and none is
 * blank unless the whole text is.
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
  const fence = fenceStart.exec(raw);
  if (fence === null) return { raw, plain };
  const [head, mark = '', lang = ''] = fence;
  const inside = raw.slice(head.length);
  const end = closing(mark, inside);
  const text = inside.slice(0, end?.index).replace(/^\n/, '');
  return { raw, code: { text, lang, open: end === null } };
}

/** A fence at the start of a line, with nothing before it that would contain it. */
const fenceStart = /^(?:[ \t]*\n)*(`{3,}|~{3,})[ \t]*([^\s`]*)[^`\n]*(?=\n|$)/;

/** Pieces between blank lines; with `fenced`, a code block is one piece. */
function* pieces(text: string, fenced: boolean): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = nextBlank(text, start);
    if (fenced) end = fencedEnd(text, start, end);
    yield text.slice(start, end);
    start = end;
  }
}

/** End of a piece that starts with a code block, or the start of a block within it. */
function fencedEnd(text: string, start: number, end: number): number {
  const fence = /^(?:`{3,}|~{3,})[^`\n]*$/gm;
  fence.lastIndex = start;
  const found = fence.exec(text.slice(0, end));
  if (found === null) return end;
  if (text.slice(start, found.index).trim() !== '') return found.index;
  const [mark = ''] = /^(?:`+|~+)/.exec(found[0]) ?? [];
  const rest = text.slice(found.index);
  const close = closing(mark, rest);
  if (close === null) return text.length;
  const after = found.index + close.index + close[0].length;
  const blank = /\s*?\n(?:[ \t]*\n)*/y;
  blank.lastIndex = after;
  return blank.test(text) ? blank.lastIndex : text.length;
}

/** The line that ends a code block, with the newline before it. */
function closing(mark: string, text: string): RegExpExecArray | null {
  return new RegExp(`\\n {0,3}${mark}${mark[0]}*[ \\t]*(?=\\n|$)`).exec(text);
}
