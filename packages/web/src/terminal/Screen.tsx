import { memo, type ReactNode } from 'react';
import { textPieces } from '../look/text-pieces.ts';
import { lookOf } from './span-look.ts';
import css from './Terminal.module.css';
import type { Line, Span } from './terminal-text.ts';

/** Lines rendered together as one block, and not again while none of them changes. */
const blockLines = 20;

/** A longer line (characters) is a block by itself. */
const longLine = 200;

/** Coloured pieces of text, in one line and on the whole screen. What goes beyond is shown without colours. */
const mostColoured = { line: 1_000, screen: 10_000 };

interface ScreenProps {
  lines: readonly Line[];
  /** The number of the first line; blocks are counted from it. */
  first: number;
}

/** Lines of a terminal. If there are too many colours, the newest lines have theirs. */
export function Screen({ lines, first }: ScreenProps) {
  const blocks = blocksOf(lines, first);
  let coloured = 0;
  const drawn = blocks.toReversed().map(({ key, lines: those }) => {
    coloured += those.reduce(
      (sum, line) => sum + Math.min(line.spans.length, mostColoured.line),
      0,
    );
    return <Block key={key} lines={those} isPlain={coloured > mostColoured.screen} />;
  });
  return drawn.toReversed();
}

/** A block's first line does not depend on what came before the lines or comes after them. */
function blocksOf(lines: readonly Line[], first: number) {
  const starts = lines.flatMap((line, at) => {
    const isAlone = Math.max(line.length, lines[at - 1]?.length ?? 0) > longLine;
    return at === 0 || isAlone || (first + at) % blockLines === 0 ? [at] : [];
  });
  return starts.map((at, index) => ({
    key: first + at,
    lines: lines.slice(at, starts[index + 1]),
  }));
}

interface BlockProps {
  lines: readonly Line[];
  /** Without colours. */
  isPlain: boolean;
}

const Block = memo(
  function Block({ lines, isPlain }: BlockProps) {
    return (
      <span className={css.block}>
        {lines.flatMap((line, row) => [
          ...drawLine(line, row, isPlain ? 0 : mostColoured.line),
          lineEnd(line, row, lines.length),
        ])}
      </span>
    );
  },
  (before, after) =>
    before.isPlain === after.isPlain &&
    before.lines.length === after.lines.length &&
    before.lines.every((line, index) => line === after.lines[index]),
);

function drawLine({ spans, length }: Line, row: number, coloured: number): ReactNode[] {
  const rest = textOf(spans.slice(coloured));
  const drawn = rest === '' ? spans : [...spans.slice(0, coloured), { text: rest }];
  const kept = textOf(drawn);
  const pieces = textPieces(kept);
  const isCut = length > kept.length;
  return [
    ...(pieces.length > 1
      ? cutSpans(drawn, pieces).map((piece, index) => (
          <span key={`${row}.${index}`} className={css.piece}>
            {piece.map((span, at) => drawSpan(span, `${at}`))}
          </span>
        ))
      : drawn.map((span, at) => drawSpan(span, `${row}.${at}`))),
    isCut ? ' … and more in this line' : '',
  ];
}

type Drawn = Pick<Span, 'text'> & Partial<Span>;

function textOf(spans: readonly Drawn[]): string {
  return spans.map(({ text }) => text).join('');
}

/** The spans of each piece of their text. */
function cutSpans(spans: readonly Drawn[], pieces: readonly string[]): Drawn[][] {
  const left = [...spans].toReversed();
  return pieces.map((piece) => {
    const inside: Drawn[] = [];
    for (let missing = piece.length; missing > 0;) {
      const span = left.pop();
      if (span === undefined) break;
      inside.push({ ...span, text: span.text.slice(0, missing) });
      if (span.text.length > missing) left.push({ ...span, text: span.text.slice(missing) });
      missing -= span.text.length;
    }
    return inside;
  });
}

function drawSpan({ text, style }: Drawn, key: string): ReactNode {
  const { kind, style: look } = style === undefined ? {} : lookOf(style);
  if (look === undefined) return text;
  return (
    <span key={key} className={kind === 'shifted' ? css.shifted : undefined} style={look}>
      {text}
    </span>
  );
}

/** The line break after a line; the last line of a block needs none unless it is empty. */
function lineEnd(line: Line, row: number, rows: number): string {
  return row < rows - 1 || line.spans.length === 0 ? '\n' : '';
}
