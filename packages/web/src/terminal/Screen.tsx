import { memo } from 'react';
import { lookOf } from './span-look.ts';
import css from './Terminal.module.css';
import type { Line } from './terminal-text.ts';

/** Lines rendered together as one block, and not again while none of them changes. */
const blockLines = 100;

/** Characters shown of one line: browsers cannot lay out a line of a million. */
const longestLine = 10_000;

interface ScreenProps {
  lines: readonly Line[];
  /** The number of the first line; blocks are counted from it. */
  first: number;
}

/** Lines of a terminal. */
export function Screen({ lines, first }: ScreenProps) {
  const blocks: { key: number; lines: readonly Line[] }[] = [];
  for (let at = 0; at < lines.length;) {
    const key = Math.floor((first + at) / blockLines);
    const end = (key + 1) * blockLines - first;
    blocks.push({ key, lines: lines.slice(at, end) });
    at = end;
  }
  return blocks.map((block) => <Block key={block.key} lines={block.lines} />);
}

const Block = memo(
  function Block({ lines }: { lines: readonly Line[] }) {
    return (
      <span className={css.block}>
        {lines.flatMap((line, row) => [...drawLine(line, row), lineEnd(line, row, lines.length)])}
      </span>
    );
  },
  (before, after) =>
    before.lines.length === after.lines.length &&
    before.lines.every((line, index) => line === after.lines[index]),
);

function drawLine(line: Line, row: number) {
  const drawn = [];
  let left = longestLine;
  for (const [index, { text, style }] of line.entries()) {
    const shown = text.slice(0, left);
    left -= text.length;
    const { kind, style: look } = lookOf(style);
    drawn.push(
      look === undefined ? (
        shown
      ) : (
        <span
          key={`${row}.${index}`}
          className={kind === 'shifted' ? css.shifted : undefined}
          style={look}
        >
          {shown}
        </span>
      ),
    );
    if (left <= 0) break;
  }
  if (left < 0) drawn.push(' … and more in this line');
  return drawn;
}

/** The line break after a line; the last line of a block needs none unless it is empty. */
function lineEnd(line: Line, row: number, rows: number): string {
  return row < rows - 1 || line.length === 0 ? '\n' : '';
}
