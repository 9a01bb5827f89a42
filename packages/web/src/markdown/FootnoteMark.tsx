import { useBlockPlace } from './block-context.ts';
import css from './Footnotes.module.css';
import { goTo } from './go-to.ts';
import { labelsIn } from './references.ts';

/** Shows the number of a footnote as a link to the footnote. */
export function FootnoteMark({ label }: { label: string }) {
  const { numbers, noteId } = useBlockPlace();
  const [key = label] = labelsIn(`[^${label}]`);
  const number = numbers.get(key);
  if (number === undefined) return <sup>{label}</sup>;
  const id = noteId(key);
  return (
    <sup className={css.mark}>
      <a
        href={`#${id}`}
        role="doc-noteref"
        aria-label={`Footnote ${number}`}
        data-note={id}
        onClick={(event) => goTo(event, document.getElementById(id))}
      >
        {number}
      </a>
    </sup>
  );
}
