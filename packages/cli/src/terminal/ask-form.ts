import {
  type Field,
  type FieldChoice,
  type Form,
  type FormContent,
  type FormValue,
  readFields,
  valueProblem,
} from '@liminal/protocol';
import {
  askLine,
  choiceRows,
  columnsOf,
  ownTerminal,
  type Terminal,
  titleRows,
  type ParsedAnswer,
} from './ask.ts';
import { fitted, linesOf, mark, markedRows } from './rows.ts';

/**
 * Asks a person to fill in a form, field by field; resolves with `undefined` if `signal` aborts the form or the input
 * ends.
 */
export async function askForm(
  form: Form,
  signal: AbortSignal,
  terminal: Terminal = ownTerminal(),
): Promise<FormContent | undefined> {
  const content: FormContent = {};
  for (const field of readFields(form)) {
    const isSecret = field.kind === 'text' && field.isSecret === true;
    const question = { rows: fieldRows(field, terminal), prompt: promptFor(field), isSecret };
    const parse = (line: string): ParsedAnswer<{ value: FormValue | undefined }> => {
      const value = readValue(line, field);
      const problem = valueProblem(field, value);
      return problem === undefined ? { answer: { value } } : { problem };
    };
    const answer = await askLine(question, parse, signal, terminal);
    if (answer === undefined) return undefined;
    if (answer.value !== undefined) content[field.name] = answer.value;
  }
  return content;
}

function fieldRows(field: Field, terminal: Terminal): string[] {
  const header = field.header ? `[${field.header}] ` : '';
  const about = field.description ? linesOf(field.description) : [];
  const heads = { first: `  ${mark}   `, further: `  ${mark}   ` };
  return [
    ...titleRows(`${header}${field.title}`, terminal),
    ...markedRows(about, columnsOf(terminal)),
    ...choicesOf(field).flatMap(({ title, description, preview = '' }, index) => [
      ...choiceRows(index, `${title}${description ? ` – ${description}` : ''}`, terminal),
      ...(preview === '' ? [] : linesOf(preview)).flatMap((line) =>
        fitted(line, heads, columnsOf(terminal)),
      ),
    ]),
  ];
}

function promptFor(field: Field): string {
  const { length } = choicesOf(field);
  const numbers =
    field.kind === 'several' ? `numbers (1-${length}), separated by commas` : `1-${length}`;
  const takesOther = 'takesOther' in field && field.takesOther;
  const words = takesOther ? `${numbers}, or your own words` : numbers;
  const plain = field.kind === 'switch' ? 'y or n' : undefined;
  const how = [length > 0 ? words : plain, field.isRequired ? undefined : 'empty for none'];
  const hint = how.filter((part) => part !== undefined).join('; ');
  return `Your answer${hint === '' ? '' : ` (${hint})`}: `;
}

const choicesOf = (field: Field): readonly FieldChoice[] =>
  'choices' in field ? field.choices : [];

/** Returns the value of a typed line; undefined for an empty line. */
function readValue(line: string, field: Field): FormValue | undefined {
  if (line === '') return undefined;
  switch (field.kind) {
    case 'switch':
      if (/^y(?:es)?$/i.test(line)) return true;
      return /^no?$/i.test(line) ? false : line;
    case 'number':
      return Number(line);
    case 'text':
      return field.isList ? parts(line) : line;
    case 'one':
      return chosen(line, field) ?? ownWords(line);
    case 'several': {
      const all = parts(line).map((part) => chosen(part, field));
      const known = all.filter((one) => one !== undefined);
      if (known.length === all.length) return known;
      const words = ownWords(line);
      return typeof words === 'string' ? [words] : words;
    }
  }
}

const parts = (line: string): string[] => line.split(',').map((part) => part.trim());

/** Returns the line as a text; returns NaN, which no field accepts, for a line of digits, which is a mistyped choice. */
const ownWords = (line: string): FormValue => (/^[\d\s,]+$/.test(line) ? Number.NaN : line);

function chosen(text: string, field: Field): string | undefined {
  return choicesOf(field)[Number(text) - 1]?.value;
}
