import type { Form, FormContent } from '@liminal/protocol';
import { filledRows } from './filled-rows.ts';
import css from './FilledForm.module.css';
import { PiecedText } from '../look/PiecedText.tsx';

interface FilledFormProps {
  form: Form | undefined;
  content: FormContent;
}

/** Shows the answers to a form, with the form's labels and the titles of its choices. */
export function FilledForm({ form, content }: FilledFormProps) {
  const rows = filledRows(form, content);
  if (rows.length === 0) return null;
  return (
    <dl className={css.filled} aria-label="Answers">
      {rows.map(({ name, title, text }) => (
        <div key={name}>
          <dt>{title}</dt>
          <dd>
            <PiecedText text={text} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
