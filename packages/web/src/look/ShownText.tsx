import { codePointName, splitHidden } from '@liminal/protocol';
import { Fragment, useMemo } from 'react';
import css from './ShownText.module.css';

/** Hidden characters beyond this many are shown as plain text: an element for each would slow the page. */
const mostMarks = 1000;

/**
 * An agent's words with hidden characters shown: an invisible character, or one that turns the direction of writing,
 * appears as its code point and has no effect. Copying yields the text itself.
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
    // Isolated: its effect on the direction ends with it.
    <bdi className={css.mark} title="A character that is not seen">
      <span className={css.name}>{codePointName(character)}</span>
      <span className={css.character} aria-hidden="true">
        {character}
      </span>
    </bdi>
  );
}
