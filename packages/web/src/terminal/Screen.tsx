import { memo, type ReactNode } from 'react';
import { TextPiece } from '../look/PiecedText.tsx';
import { spanPieces } from '../look/text-pieces.ts';
import { lookOf } from './span-look.ts';
import css from './Terminal.module.css';
import type { TerminalLine, StyledSpan } from './terminal-text.ts';

/**
 * The number of lines that are rendered together as one block. A block is rendered again only when one of its lines
 * changes.
 */
const blockLines = 20;

/** A line with more characters than this is a block by itself. */
const longLine = 200;

/** The most coloured pieces of text in one line and on the whole screen. All further pieces are plain. */
const mostColoured = { line: 1_000, screen: 10_000 };

interface ScreenProps {
  lines: readonly TerminalLine[];
  /** The number of the first line in `lines`. Blocks begin at fixed numbers, counted from line 0 of the output. */
  first: number;
}

/** Shows lines of a terminal. If there are too many colours, only the newest lines are coloured. */
export function Screen({ lines, first }: ScreenProps) {
  const blocks = blocksOf(lines, first);
  let coloured = 0;
  const drawn = blocks.toReversed().map(({ key, lines: those }) => {
    coloured += those.reduce(
      (sum, line) => sum + Math.min(line.spans.length, mostColoured.line),
      0,
    );
    return <LineBlock key={key} lines={those} isPlain={coloured > mostColoured.screen} />;
  });
  return drawn.toReversed();
}

/** Cuts lines into blocks at fixed line numbers, so that added or removed lines do not shift the blocks. */
function blocksOf(lines: readonly TerminalLine[], first: number) {
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
  lines: readonly TerminalLine[];
  /** Whether the block is shown without colours. */
  isPlain: boolean;
}

const LineBlock = memo(
  function LineBlock({ lines, isPlain }: BlockProps) {
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

function drawLine({ spans, length }: TerminalLine, row: number, coloured: number): ReactNode[] {
  const rest = spans.slice(coloured).map(({ text }) => text);
  const drawn: readonly Drawn[] =
    rest.length === 0 ? spans : [...spans.slice(0, coloured), { text: rest.join('') }];
  const pieces = spanPieces(drawn);
  const shownLength = drawn.reduce((sum, { text }) => sum + text.length, 0);
  return [
    ...(pieces.length > 1
      ? pieces.map((piece, index) => (
          <TextPiece key={`${row}.${index}`}>
            {piece.map((span, at) => drawSpan(span, `${at}`))}
          </TextPiece>
        ))
      : drawn.map((span, at) => drawSpan(span, `${row}.${at}`))),
    length > shownLength ? ' … and more in this line' : '',
  ];
}

type Drawn = Pick<StyledSpan, 'text'> & Partial<StyledSpan>;

function drawSpan({ text, style }: Drawn, key: string): ReactNode {
  const { kind, style: look } = style === undefined ? {} : lookOf(style);
  if (look === undefined) return text;
  return (
    <span key={key} className={kind === 'shifted' ? css.shifted : undefined} style={look}>
      {text}
    </span>
  );
}

/** Returns the line break after a line. The last line of a block has no line break, unless the line is empty. */
function lineEnd(line: TerminalLine, row: number, rows: number): string {
  return row < rows - 1 || line.spans.length === 0 ? '\n' : '';
}
