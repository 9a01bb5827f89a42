import type { FileResult } from '@liminal/protocol';
import { useLayoutEffect, useRef } from 'react';
import { ColouredLine } from '../highlight/Code.tsx';
import { languageOfFile } from '../highlight/language-of-file.ts';
import type { ColouredLines } from '../highlight/coloured-lines.ts';
import { useHighlight } from '../highlight/use-highlight.ts';
import { TextPiece, PiecedText } from '../look/PiecedText.tsx';
import { bytes } from '../words/amounts.ts';
import css from './FileText.module.css';
import type { FileTarget } from './file-target.ts';

interface FileTextProps {
  file: Extract<FileResult, { kind: 'text' }>;
  target: FileTarget;
}

/** The height of a line in px. The styles contain the same height. */
const lineHeight = 20;
/**
 * The number of lines that are laid out together. Groups of lines far from the visible part are not laid out at all.
 */
const chunkLines = 50;

/**
 * Shows a file's numbered lines in the colours of its language. The target lines are marked, and the file scrolls to
 * them.
 */
export function FileText({ file, target }: FileTextProps) {
  const { path, text, isCut, size } = file;
  const coloured = useHighlight(text, languageOfFile(path));
  const lines = splitLines(text);
  const scroller = useRef<HTMLDivElement>(null);
  const { line, endLine = line } = target;
  const isThere = line !== undefined && line <= lines.length;

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || target.line === undefined) return;
    // Scroll the target to a third of the height, so that lines before the target are also visible.
    element.scrollTop = (target.line - 1) * lineHeight - element.clientHeight / 3;
  }, [target]);

  return (
    <>
      {line !== undefined && !isThere && (
        <p className={css.note}>
          The file has no line {line}: it ends at line {lines.length}.
        </p>
      )}
      {isCut && (
        <p className={css.note}>
          Only the start is shown, {bytes(text.length)} of {bytes(size)}.
        </p>
      )}
      {size === 0 && <p className={css.note}>The file is empty.</p>}
      <div
        ref={scroller}
        className={css.scroller}
        role="region"
        aria-label="Content"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
      >
        <div className={css.lines}>
          {isThere && <LineMark from={line} to={Math.min(endLine ?? line, lines.length)} />}
          {chunksOf(lines.length).map((from) => (
            <Chunk key={from} from={from} lines={lines} coloured={coloured} />
          ))}
        </div>
      </div>
    </>
  );
}

function LineMark({ from, to }: { from: number; to: number }) {
  return (
    <div
      className={css.mark}
      data-marked={`${from}-${to}`}
      style={{ top: (from - 1) * lineHeight, height: (to - from + 1) * lineHeight }}
    />
  );
}

interface ChunkProps {
  /** From 0. */
  from: number;
  lines: readonly string[];
  coloured: ColouredLines | undefined;
}

function Chunk({ from, lines, coloured }: ChunkProps) {
  const shown = lines.slice(from, from + chunkLines);
  const numbers = shown.map((_, index) => from + index + 1).join('\n');
  return (
    <div className={css.chunk} style={{ height: shown.length * lineHeight }}>
      <pre className={css.numbers} aria-hidden="true">
        {numbers}
      </pre>
      <pre className={css.text}>
        {shown.map((line, index) => (
          <span key={index}>
            <FileLine text={line} tokens={coloured?.[from + index]} />
            {'\n'}
          </span>
        ))}
      </pre>
    </div>
  );
}

/** A line with more characters than this is laid out by itself. */
const longLine = 200;

function FileLine({ text, tokens }: { text: string; tokens: ColouredLines[number] | undefined }) {
  const drawn =
    tokens === undefined ? <PiecedText text={text} /> : <ColouredLine tokens={tokens} />;
  return text.length > longLine ? <TextPiece>{drawn}</TextPiece> : drawn;
}

/** Splits a text into lines. A newline at the end does not begin another line. */
function splitLines(text: string): string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function chunksOf(lines: number): number[] {
  return Array.from({ length: Math.ceil(lines / chunkLines) }, (_, index) => index * chunkLines);
}
