import type { Form, FormContent, FormField } from '@liminal/protocol';

type Value = FormContent[string];

/** What is wrong with a filled-in form, in one sentence; undefined if it is valid. */
export function formProblem(form: Form, content: FormContent): string | undefined {
  const missing = (form.required ?? []).find((name) => !Object.hasOwn(content, name));
  if (missing !== undefined) return `“${labelOf(form, missing)}” must be filled in.`;
  for (const [name, value] of Object.entries(content)) {
    const field = Object.hasOwn(form.properties, name) ? form.properties[name] : undefined;
    if (field === undefined) return `The form has no field “${name}”.`;
    if (!fits(field, value)) return `“${labelOf(form, name)}” cannot be ${JSON.stringify(value)}.`;
  }
  return undefined;
}

const labelOf = ({ properties }: Form, name: string): string => properties[name]?.title ?? name;

function fits(field: FormField, value: Value): boolean {
  const isMember = (choices: readonly string[] | undefined, one: unknown): boolean =>
    choices === undefined || field.other === true || choices.some((choice) => choice === one);
  switch (field.type) {
    case 'string':
      return typeof value === 'string' && isMember(choicesOf(field), value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return Array.isArray(value) && value.every((one) => isMember(itemChoices(field), one));
    default:
      // An unknown type: the agent will check it.
      return true;
  }
}

const choicesOf = (field: FormField): string[] | undefined =>
  field.enum ?? field.oneOf?.map((choice) => choice.const);

const itemChoices = ({ items }: FormField): string[] | undefined =>
  items?.enum ?? items?.anyOf?.map((choice) => choice.const);
