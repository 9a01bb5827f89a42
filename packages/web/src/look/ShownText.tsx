import { codePointName, splitHidden } from '@liminal/protocol';
import { Fragment, useMemo } from 'react';
import css from './ShownText.module.css';

/** More marks than this in one text are a matter of the text, and would only slow the page. */
const mostMarks = 1000;

/**
 * An agent's words as they are: a character that nobody sees, or that turns the direction of writing, is shown as its
 * code point, and turns nothing. What is copied is the text itself.
 */
export function ShownText({ text }: { text: string }) {
  const pieces = useMemo(() => splitHidden(text), [text]);
  if (pieces.length === 1 && pieces[0]?.isHidden === false) return text;
  const marked = pieces.slice(0, 2 * mostMarks);
  const rest = pieces.slice(2 * mostMarks);
  return (
    <bdi>
      {marked.map((piece, index) =>
        piece.isHidden ? (
          <HiddenMark key={index} character={piece.text} />
        ) : (
          <Fragment key={index}>{piece.text}</Fragment>
        ),
      )}
      {rest.map(({ text: one, isHidden }) => (isHidden ? `‹${codePointName(one)}›` : one)).join('')}
    </bdi>
  );
}

function HiddenMark({ character }: { character: string }) {
  return (
    // Isolated: what it turns ends with it.
    <bdi className={css.mark} title="A character that is not seen">
      <span className={css.name}>{codePointName(character)}</span>
      <span className={css.character} aria-hidden="true">
        {character}
      </span>
    </bdi>
  );
}
