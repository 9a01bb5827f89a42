import { hasHidden } from '@liminal/protocol';
import { Fragment } from 'react';
import { TextPiece, PiecedText } from '../look/PiecedText.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { spanPieces } from '../look/text-pieces.ts';
import { classOf } from './colour-classes.ts';
import type { ColouredLines, ColouredToken } from './coloured-lines.ts';
import { useHighlight } from './use-highlight.ts';

/** Shows code in the colours of its language, as soon as the colours have loaded. */
export function Code({ code, lang }: { code: string; lang: string }) {
  const lines = useHighlight(code, lang);
  if (lines === undefined) {
    return (
      <code>
        <PiecedText text={code} />
      </code>
    );
  }
  return (
    <code>
      {blocksOf(lines).map((block, index) => (
        <Fragment key={index}>
          {index > 0 && '\n'}
          <TextPiece>
            {block.map((tokens, row) => (
              <Fragment key={row}>
                {row > 0 && '\n'}
                <ColouredLine tokens={tokens} />
              </Fragment>
            ))}
          </TextPiece>
        </Fragment>
      ))}
    </code>
  );
}

/** The number of lines that are laid out together. */
const blockLines = 20;

function blocksOf(lines: ColouredLines): ColouredLines[] {
  return Array.from({ length: Math.ceil(lines.length / blockLines) }, (_, index) =>
    lines.slice(index * blockLines, (index + 1) * blockLines),
  );
}

/** Shows a line of code. A long line is laid out in pieces. */
export function ColouredLine({ tokens }: { tokens: readonly ColouredToken[] }) {
  const pieces = spanPieces(tokens.map(({ content: text, css }) => ({ text, css })));
  return pieces.map((piece, index) => {
    const drawn = piece.map(({ text, css }, at) => (
      <span key={at} className={classOf(css)}>
        {hasHidden(text) ? <ShownText text={text} /> : text}
      </span>
    ));
    return pieces.length === 1 ? drawn : <TextPiece key={index}>{drawn}</TextPiece>;
  });
}
