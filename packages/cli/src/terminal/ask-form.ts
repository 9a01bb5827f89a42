import type { Form, FormContent, FormField } from '@liminal/protocol';
import { askLine, type Terminal } from './ask.ts';

type Value = FormContent[string];
/** `skip` leaves a field out; undefined: not understood. */
type Answer = { value: Value } | 'skip' | undefined;

interface Choice {
  value: string;
  title: string;
  description?: string | null | undefined;
}

/** Lets a person fill in a form, field by field; `undefined` when `signal` aborts it or the input ends. */
export async function askForm(
  { properties, required }: Form,
  signal: AbortSignal,
  terminal?: Terminal,
): Promise<FormContent | undefined> {
  const content: FormContent = {};
  for (const [name, field] of Object.entries(properties)) {
    const isRequired = required?.includes(name) ?? false;
    const question = { text: fieldText(name, field), prompt: promptOf(field, isRequired) };
    const understand = (line: string): Answer => readAnswer(line, field, isRequired);
    const answer = await askLine(question, understand, signal, terminal);
    if (answer === undefined) return undefined;
    if (answer !== 'skip') content[name] = answer.value;
  }
  return content;
}

function fieldText(name: string, field: FormField): string {
  const header = field.header ? `[${field.header}] ` : '';
  const about = field.description ? `  ${field.description}\n` : '';
  const choices = choicesOf(field).map(({ title, description }, index) => {
    return `  ${index + 1}  ${title}${description ? ` – ${description}` : ''}\n`;
  });
  return `? ${header}${field.title ?? name}\n${about}${choices.join('')}`;
}

function promptOf(field: FormField, isRequired: boolean): string {
  const { length } = choicesOf(field);
  const numbers = field.type === 'array' ? `numbers (1-${length}), with commas` : `1-${length}`;
  const words = field.other === true ? `${numbers}, or your own words` : numbers;
  const plain = field.type === 'boolean' ? 'y or n' : undefined;
  const how = [length > 0 ? words : plain, isRequired ? undefined : 'empty for none'];
  const hint = how.filter((part) => part !== undefined).join('; ');
  return `Your answer${hint === '' ? '' : ` (${hint})`}: `;
}

function readAnswer(line: string, field: FormField, isRequired: boolean): Answer {
  if (line === '') return isRequired ? undefined : 'skip';
  const value = readValue(line, field);
  return value === undefined ? undefined : { value };
}

function readValue(line: string, field: FormField): Value | undefined {
  const choices = choicesOf(field);
  const choose = (text: string): string | undefined => choices[Number(text) - 1]?.value;
  if (choices.length > 0) {
    const parts = field.type === 'array' ? line.split(',').map((part) => part.trim()) : [line];
    const chosen = parts.map(choose).filter((one) => one !== undefined);
    if (chosen.length === parts.length) return field.type === 'array' ? chosen : chosen[0];
    // A number outside the choices is a typing mistake.
    if (field.other !== true || /^[\d\s,]+$/.test(line)) return undefined;
    return field.type === 'array' ? [line] : line;
  }
  if (field.type === 'boolean') return readYes(line);
  if (field.type === 'number' || field.type === 'integer') {
    return Number.isFinite(Number(line)) ? Number(line) : undefined;
  }
  return field.type === 'array' ? line.split(',').map((part) => part.trim()) : line;
}

function readYes(line: string): boolean | undefined {
  if (/^y(?:es)?$/i.test(line)) return true;
  return /^no?$/i.test(line) ? false : undefined;
}

function choicesOf({ enum: plain, oneOf, items }: FormField): Choice[] {
  const named = oneOf ?? items?.anyOf;
  if (named) return named.map(({ const: value, ...rest }) => ({ value, ...rest }));
  return (plain ?? items?.enum ?? []).map((value) => ({ value, title: value }));
}
