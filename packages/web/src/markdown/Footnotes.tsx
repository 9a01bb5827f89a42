import css from './Footnotes.module.css';
import { goTo } from './go-to.ts';
import { MarkdownBlock } from './MarkdownBlock.tsx';
import { type Footnote, labelsIn, type References } from './references.ts';

interface FootnotesProps {
  references: References;
  noteId: (label: string) => string;
}

/** Lists the footnotes of a message below the message. */
export function Footnotes({ references, noteId }: FootnotesProps) {
  if (references.footnotes.length === 0) return null;
  return (
    <div className={css.notes} role="group" aria-label="Footnotes">
      <ol className={css.list}>
        {references.footnotes.map((note) => (
          <NoteItem key={note.label} note={note} references={references} noteId={noteId} />
        ))}
      </ol>
    </div>
  );
}

function NoteItem({ note, ...rest }: FootnotesProps & { note: Footnote }) {
  const { label, number, source } = note;
  const id = rest.noteId(label);
  return (
    // A press on the footnote's number moves the focus to the footnote, so that the next Tab leads to the link back to
    // the text.
    <li id={id} tabIndex={-1} className={css.note} dir="auto">
      <span className={css.number}>{number}.</span>
      <div className={css.content}>
        <MarkdownBlock
          block={{ raw: source, labels: labelsIn(source) }}
          open={false}
          isNote
          {...rest}
        />
        <a
          href={`#${id}`}
          role="doc-backlink"
          aria-label={`Back to where footnote ${number} is named`}
          onClick={(event) =>
            goTo(event, document.querySelector(`[data-note="${CSS.escape(id)}"]`))
          }
        >
          ↩
        </a>
      </div>
    </li>
  );
}
