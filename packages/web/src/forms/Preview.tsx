import { Markdown } from '../markdown/Markdown.tsx';
import css from './FormFields.module.css';

/** Preview of a choice. Drawings made of characters stay as they are: only fences make it Markdown. */
export function Preview({ of, text }: { of: string; text: string }) {
  return (
    <section className={css.preview} aria-label={`Preview of ${of}`}>
      {text.includes('```') ? <Markdown>{text}</Markdown> : <pre>{text}</pre>}
    </section>
  );
}
