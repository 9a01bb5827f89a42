import { Fragment, type ReactNode } from 'react';
import css from './PiecedText.module.css';
import { textPieces } from './text-pieces.ts';

interface PiecedTextProps {
  text: string;
  /** Renders the piece that begins at the index `from`; by default as plain text. */
  draw?: (piece: string, from: number) => ReactNode;
}

/** Text of any length, for elements that keep line breaks. A long text is laid out in pieces, and copied unchanged. */
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
        {/* A line break at the end of a piece must not end the line that contains the piece. */}
        {isLine && '\n'}
      </Fragment>
    );
  });
}

/** A piece of text inside a line. The browser lays out each piece separately. */
export function TextPiece({ children }: { children: ReactNode }) {
  return <span className={css.piece}>{children}</span>;
}
