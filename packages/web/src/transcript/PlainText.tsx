import { LongText } from './LongText.tsx';
import css from './PlainText.module.css';

interface PlainTextProps {
  text: string;
  /** The reason why the text is not rendered, as the end of a sentence. */
  why: string;
}

/** Shows the source of a text that cannot be rendered. */
export function PlainText({ text, why }: PlainTextProps) {
  return (
    <div className={css.plain} role="group" aria-label="Plain text">
      <p className={css.note}>Shown as plain text: {why}.</p>
      <LongText text={text} name={`plain ${text.slice(0, 80)}`} />
    </div>
  );
}
