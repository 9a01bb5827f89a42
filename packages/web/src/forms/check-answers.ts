import type { FormContent } from '@liminal/protocol';
import { count } from '../words/amounts.ts';
import type {
  Field,
  FieldValue,
  NumberField,
  SeveralField,
  TextField,
  TextFormat,
} from './read-fields.ts';

/** The answers so far, by field. */
export type Answers = Readonly<Record<string, FieldValue>>;

type AnswerValue = FormContent[string];
/** One sentence for the person who fills it in. */
type Problem = string;
type Checked = { value: AnswerValue | undefined } | { problem: Problem };

export interface CheckedForm {
  /** The content to send, without empty fields. Undefined while there are problems. */
  content: FormContent | undefined;
  /** By field. A map, since a field may have the name of a property that every object has, such as `constructor`. */
  problems: ReadonlyMap<string, Problem>;
}

export function initialAnswers(fields: readonly Field[]): Answers {
  return Object.fromEntries(fields.map((field) => [field.name, field.initial]));
}

export function checkForm(fields: readonly Field[], answers: Answers): CheckedForm {
  const given: [string, AnswerValue][] = [];
  const problems = new Map<string, Problem>();
  for (const field of fields) {
    const checked = checkField(field, answers[field.name] ?? field.initial);
    if ('problem' in checked) problems.set(field.name, checked.problem);
    else if (checked.value !== undefined) given.push([field.name, checked.value]);
  }
  return {
    content: problems.size === 0 ? Object.fromEntries(given) : undefined,
    problems,
  };
}

function checkField(field: Field, answer: FieldValue): Checked {
  switch (field.kind) {
    case 'switch':
      return { value: answer === true };
    case 'several':
      return checkSeveral(field, Array.isArray(answer) ? answer.filter(isSaid) : []);
    case 'one':
      if (String(answer).trim() !== '') return { value: String(answer).trim() };
      if (!field.isRequired) return { value: undefined };
      return { problem: field.takesOther ? 'Choose one, or say something else.' : 'Choose one.' };
    case 'number':
    case 'text': {
      const text = String(answer).trim();
      if (text === '') return field.isRequired ? { problem: emptyWords } : { value: undefined };
      return field.kind === 'number' ? checkNumber(field, text) : checkText(field, String(answer));
    }
  }
}

/** Whether own words have been written. */
const isSaid = (one: string): boolean => one.trim() !== '';

const emptyWords = 'This has to be filled in.';

function checkSeveral(field: SeveralField, chosen: string[]): Checked {
  const { minItems = 0, maxItems = Infinity, isRequired } = field;
  if (chosen.length === 0 && !isRequired) return { value: undefined };
  if (chosen.length < minItems) return { problem: `Choose at least ${minItems}.` };
  if (chosen.length > maxItems) return { problem: `Choose at most ${maxItems}.` };
  return { value: chosen };
}

function checkNumber({ isWhole, minimum, maximum }: NumberField, text: string): Checked {
  const value = Number(text);
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) || !Number.isFinite(value)) {
    return { problem: isWhole ? 'Give a whole number, such as 3.' : 'Give a number, such as 1.5.' };
  }
  if (isWhole && !Number.isInteger(value)) return { problem: 'Give a whole number.' };
  if (minimum !== undefined && value < minimum) return { problem: `Give ${minimum} or more.` };
  if (maximum !== undefined && value > maximum) return { problem: `Give ${maximum} or less.` };
  return { value };
}

function checkText(field: TextField, text: string): Checked {
  const { format, minLength = 0, maxLength = Infinity, pattern, isList } = field;
  if (isList) return { value: text.split('\n').filter((line) => line.trim() !== '') };
  const value = format === undefined ? text : text.trim();
  // As JSON Schema counts.
  const length = Array.from(value).length;
  if (length < minLength) {
    return { problem: `Give at least ${count(minLength, 'character')}; these are ${length}.` };
  }
  if (length > maxLength) {
    return { problem: `Give at most ${count(maxLength, 'character')}; these are ${length}.` };
  }
  if (format !== undefined && !formats[format].fits(value)) {
    return { problem: formats[format].problem };
  }
  if (pattern !== undefined && !fits(pattern, value)) {
    return { problem: `This does not have the form that is asked for: ${pattern}` };
  }
  return { value: format === 'date-time' ? new Date(value).toISOString() : value };
}

const formats: Record<TextFormat, { fits: (text: string) => boolean; problem: Problem }> = {
  email: {
    fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
    problem: 'Give an e-mail address, such as ada@example.org.',
  },
  uri: {
    fits: (text) => URL.canParse(text),
    problem: 'Give a whole address, such as https://example.org/page.',
  },
  date: {
    fits: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
    problem: 'Give a date, such as 2026-05-04.',
  },
  'date-time': {
    fits: (text) => !Number.isNaN(Date.parse(text)),
    problem: 'Give a date and a time.',
  },
};

/** A pattern can be made to run without end: longer texts (characters) are left to the agent. */
const longestMatched = 500;

/** Whether a text matches a pattern; a pattern that browsers cannot read is left to the agent too. */
function fits(pattern: string, text: string): boolean {
  if (text.length > longestMatched) return true;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}
