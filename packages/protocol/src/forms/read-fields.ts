/** A form's fields, in the form in which the page and the terminal show them. */
import type { Form, FormField } from '../content.ts';

export interface FieldChoice {
  value: string;
  title: string;
  description?: string;
  /** Markdown that shows the result of this choice. */
  preview?: string;
}

interface FieldBase {
  /** The name of the field in the answer. */
  name: string;
  title: string;
  /** A short title for the question. */
  header?: string;
  description?: string;
  isRequired: boolean;
}

/** A text field. Has only the properties that the agent set; `format` is a known format. */
export interface TextField extends FieldBase {
  kind: 'text';
  initial: string;
  format?: TextFormat;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  /** Whether the answer is hidden while the person types it, and is masked wherever it is stored. */
  isSecret?: true;
  /** Whether the answer is a list of texts. */
  isList?: true;
  /** Whether the field's type is known only to the agent. */
  isUnknown?: true;
}
export interface NumberField extends FieldBase {
  kind: 'number';
  initial: string;
  isWhole: boolean;
  minimum?: number;
  maximum?: number;
}
export interface SwitchField extends FieldBase {
  kind: 'switch';
  initial: boolean;
}
export interface OneField extends FieldBase {
  kind: 'one';
  /** Empty if no choice is preset. */
  initial: string;
  choices: FieldChoice[];
  /** Whether the person may type an answer instead of choosing one. */
  takesOther: boolean;
}
export interface SeveralField extends FieldBase {
  kind: 'several';
  initial: string[];
  choices: FieldChoice[];
  /** Whether the answer may include a text that the person types. */
  takesOther: boolean;
  minItems?: number;
  maxItems?: number;
}
export type Field = TextField | NumberField | SwitchField | OneField | SeveralField;
export type FieldValue = Field['initial'];

const formats = ['email', 'uri', 'date', 'date-time'] as const;
export type TextFormat = (typeof formats)[number];

/** Returns the fields of a form in the form's order. A field whose type is not known becomes a text field. */
export function readFields(form: Form | undefined): Field[] {
  if (form === undefined) return [];
  const required = new Set(form.required ?? []);
  return Object.entries(form.properties).map(([name, asked]) =>
    readField(asked, {
      name,
      title: asked.title || name,
      ...(asked.header && { header: asked.header }),
      ...(asked.description && { description: asked.description }),
      isRequired: required.has(name),
    }),
  );
}

function readField(asked: FormField, base: FieldBase): Field {
  switch (asked.type) {
    case 'number':
    case 'integer':
      return readNumber(asked, base);
    case 'boolean':
      return { ...base, kind: 'switch', initial: asked.default === true };
    case 'array':
      return readSeveral(asked, base);
    default:
      return readText(asked, base);
  }
}

/** Whether the answer to a field must not be shown or stored. */
export const isSecret = ({ format, writeOnly }: FormField): boolean =>
  format === 'password' || writeOnly === true;

function readText(asked: FormField, base: FieldBase): Field {
  const given = typeof asked.default === 'string' ? asked.default : '';
  const choices = choicesOf(asked.oneOf, asked.enum);
  if (choices.length > 0) {
    const initial = choices.some(({ value }) => value === given) ? given : '';
    return { ...base, kind: 'one', choices, takesOther: asked.other === true, initial };
  }
  const format = formats.find((known) => known === asked['format']);
  const pattern = asked['pattern'];
  return {
    ...base,
    kind: 'text',
    initial: given,
    ...(asked.type !== 'string' && { isUnknown: true }),
    ...(isSecret(asked) && { isSecret: true }),
    ...(format !== undefined && { format }),
    ...numbers(asked, 'minLength', 'maxLength'),
    ...(typeof pattern === 'string' && { pattern }),
  };
}

function readNumber(asked: FormField, base: FieldBase): NumberField {
  const isWhole = asked.type === 'integer';
  const initial = typeof asked.default === 'number' ? String(asked.default) : '';
  return { ...base, kind: 'number', isWhole, initial, ...numbers(asked, 'minimum', 'maximum') };
}

function readSeveral(asked: FormField, base: FieldBase): Field {
  const choices = choicesOf(asked.items?.anyOf, asked.items?.enum);
  const given: unknown[] = Array.isArray(asked.default) ? asked.default : [];
  if (choices.length === 0) {
    const lines = given.filter((one) => typeof one === 'string');
    return { ...base, kind: 'text', initial: lines.join('\n'), isList: true };
  }
  const initial = choices.map(({ value }) => value).filter((value) => given.includes(value));
  const takesOther = asked.other === true;
  const limits = numbers(asked, 'minItems', 'maxItems');
  return { ...base, kind: 'several', choices, takesOther, initial, ...limits };
}

type NamedChoice = NonNullable<FormField['oneOf']>[number];

function choicesOf(
  named: readonly NamedChoice[] | null | undefined,
  plain: readonly string[] | null | undefined,
): FieldChoice[] {
  if (!named || named.length === 0) return (plain ?? []).map((value) => ({ value, title: value }));
  return named.map(({ const: value, title, description, preview }) => ({
    value,
    title,
    ...(description && { description }),
    ...(preview && { preview }),
  }));
}

function numbers<K extends string>(asked: FormField, ...keys: K[]): { [key in K]?: number } {
  const found: { [key in K]?: number } = {};
  for (const key of keys) {
    const value = asked[key];
    if (typeof value === 'number') found[key] = value;
  }
  return found;
}
