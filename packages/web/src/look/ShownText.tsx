import { codePointName, markHidden, splitHidden } from '@liminal/protocol';
import { Fragment, type ReactNode, useMemo } from 'react';
import { PiecedText } from './PiecedText.tsx';
import { mostInLine } from './text-pieces.ts';
import css from './ShownText.module.css';

/**
 * If a text has more hidden characters than this, the further ones are shown as plain text: an element for each would
 * slow the page.
 */
const mostMarks = 1000;

/**
 * Shows an agent's text with its hidden characters. A character that is invisible or changes the writing direction
 * appears as its code point and has no effect. Copying yields the text itself.
 */
export function ShownText({ text }: { text: string }) {
  const pieces = useMemo(() => splitHidden(text), [text]);
  if (text.length <= mostInLine) return drawMarked(pieces);
  const marked = pieces.slice(0, 2 * mostMarks);
  const end = marked.reduce((sum, piece) => sum + piece.text.length, 0);
  const draw = (part: string, from: number) =>
    from < end ? drawMarked(splitHidden(part)) : markHidden(part);
  return <PiecedText text={text} draw={draw} />;
}

function drawMarked(pieces: ReturnType<typeof splitHidden>): ReactNode {
  const [only] = pieces;
  if (pieces.length <= 1 && only?.isHidden !== true) return only?.text;
  return (
    <bdi>
      {pieces.map((piece, index) =>
        piece.isHidden ? (
          <HiddenMark key={index} character={piece.text} />
        ) : (
          <Fragment key={index}>{piece.text}</Fragment>
        ),
      )}
    </bdi>
  );
}

function HiddenMark({ character }: { character: string }) {
  return (
    // `bdi` isolates the character, so that it does not change the writing direction of the text after it.
    <bdi className={css.mark} title="A character that is not seen">
      <span className={css.name}>{codePointName(character)}</span>
      <span className={css.character} aria-hidden="true">
        {character}
      </span>
    </bdi>
  );
}
