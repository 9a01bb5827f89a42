import { Markdown } from '../markdown/Markdown.tsx';
import css from './FormFields.module.css';

/** What a choice would lead to. What is drawn in characters keeps its place: only fences make it Markdown. */
export function Preview({ of, text }: { of: string; text: string }) {
  return (
    <section className={css.preview} aria-label={`Preview of ${of}`}>
      {text.includes('```') ? <Markdown>{text}</Markdown> : <pre>{text}</pre>}
    </section>
  );
}
