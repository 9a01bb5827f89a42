import { type Field, type Form, type FormContent, readFields } from '@liminal/protocol';

interface FilledRow {
  name: string;
  title: string;
  text: string;
}

/** Returns every answer in the form's order. Answers that belong to no field come last. */
export function filledRows(form: Form | undefined, content: FormContent): FilledRow[] {
  const fields = readFields(form);
  const order = fields.map(({ name }) => name);
  return Object.keys(content)
    .toSorted((a, b) => orderIndex(order, a) - orderIndex(order, b))
    .map((name) => {
      const field = fields.find((one) => one.name === name);
      return { name, title: field?.title ?? name, text: valueText(field, content[name] ?? '') };
    });
}

function orderIndex(order: readonly string[], name: string): number {
  const index = order.indexOf(name);
  return index < 0 ? order.length : index;
}

function valueText(field: Field | undefined, value: FormContent[string]): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) {
    return value.length === 0 ? 'None' : value.map((one) => choiceTitle(field, one)).join(', ');
  }
  if (field?.kind === 'text' && field.format === 'date-time') return localTime(String(value));
  return choiceTitle(field, String(value));
}

function choiceTitle(field: Field | undefined, value: string): string {
  if (field?.kind !== 'one' && field?.kind !== 'several') return value;
  return field.choices.find((choice) => choice.value === value)?.title ?? value;
}

function localTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
