import { type Form, type FormContent, type Field, readFields } from '@liminal/protocol';
import css from './FilledForm.module.css';
import { PiecedText } from '../look/PiecedText.tsx';

interface FilledFormProps {
  form: Form | undefined;
  content: FormContent;
}

/** The answers to a form, in the form's own words. */
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

interface FilledRow {
  name: string;
  title: string;
  text: string;
}

/** Every answer in the form's order; answers that belong to no field come last. */
export function filledRows(form: Form | undefined, content: FormContent): FilledRow[] {
  const fields = readFields(form);
  const order = fields.map(({ name }) => name);
  return Object.keys(content)
    .toSorted((a, b) => place(order, a) - place(order, b))
    .map((name) => {
      const field = fields.find((one) => one.name === name);
      return { name, title: field?.title ?? name, text: say(field, content[name] ?? '') };
    });
}

function place(order: readonly string[], name: string): number {
  const index = order.indexOf(name);
  return index < 0 ? order.length : index;
}

function say(field: Field | undefined, value: FormContent[string]): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) {
    return value.length === 0 ? 'None' : value.map((one) => titleOf(field, one)).join(', ');
  }
  if (field?.kind === 'text' && field.format === 'date-time') return localTime(String(value));
  return titleOf(field, String(value));
}

function titleOf(field: Field | undefined, value: string): string {
  if (field?.kind !== 'one' && field?.kind !== 'several') return value;
  return field.choices.find((choice) => choice.value === value)?.title ?? value;
}

function localTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
