import { Fragment, type ReactNode } from 'react';
import css from './PiecedText.module.css';
import { textPieces } from './text-pieces.ts';

interface PiecedTextProps {
  text: string;
  /** Renders the piece that begins at an index; by default as plain text. */
  draw?: (piece: string, from: number) => ReactNode;
}

/** Text of any length, for places that keep line breaks. A long text is laid out in pieces, and copied unchanged. */
export function PiecedText({ text, draw = (piece) => piece }: PiecedTextProps) {
  const pieces = textPieces(text);
  if (pieces.length <= 1) return draw(text, 0);
  let end = 0;
  return pieces.map((piece, index) => {
    const from = end;
    end += piece.length;
    const isLine = piece.endsWith('\n');
    return (
      <Fragment key={index}>
        <TextPiece>{draw(isLine ? piece.slice(0, -1) : piece, from)}</TextPiece>
        {/* A line break at the end of a piece does not end the line around it. */}
        {isLine && '\n'}
      </Fragment>
    );
  });
}

/** A piece of text inside a line, which the browser lays out separately. */
export function TextPiece({ children }: { children: ReactNode }) {
  return <span className={css.piece}>{children}</span>;
}
