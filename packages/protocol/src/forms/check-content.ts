/** Checks a filled-in form. The page, the terminal and the server check forms with these functions. */
import { z } from 'zod';
import type { Form, FormContent } from '../content.ts';
import {
  type FieldChoice,
  type Field,
  type NumberField,
  type OneField,
  readFields,
  type SeveralField,
  type TextField,
  type TextFormat,
} from './read-fields.ts';

export type FormValue = FormContent[string];

/** A sentence about the problem, for the person who fills in the form. */
type Problem = string;

/** Returns the problem of a filled-in form, or undefined if it is valid. */
export function formProblem(form: Form, content: FormContent): Problem | undefined {
  const fields = new Map(readFields(form).map((field) => [field.name, field]));
  const unknown = Object.keys(content).find((name) => !fields.has(name));
  if (unknown !== undefined) return `The form has no field “${unknown}”.`;
  for (const [name, field] of fields) {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    const problem = valueProblem(field, value);
    if (problem !== undefined) return `“${field.title}”: ${problem}`;
  }
  return undefined;
}

/** Returns the problem of one field's value (`undefined` for no value), or undefined if the value is valid. */
export function valueProblem(field: Field, value: FormValue | undefined): Problem | undefined {
  if (value === undefined) return field.isRequired ? missing(field) : undefined;
  switch (field.kind) {
    case 'switch':
      return typeof value === 'boolean' ? undefined : 'Say yes or no.';
    case 'one':
      return oneProblem(field, value);
    case 'several':
      return severalProblem(field, value);
    case 'number':
      return numberProblem(field, value);
    case 'text':
      return textProblem(field, value);
  }
}

function missing(field: Field): Problem {
  if (field.kind !== 'one') return 'This has to be filled in.';
  return field.takesOther ? 'Choose one, or say something else.' : 'Choose one.';
}

const isAmong = (choices: readonly FieldChoice[], one: unknown): boolean =>
  choices.some(({ value }) => value === one);

function oneProblem({ choices, takesOther }: OneField, value: FormValue): Problem | undefined {
  const fits = typeof value === 'string' && (takesOther || isAmong(choices, value));
  return fits ? undefined : 'Choose one of the choices.';
}

function severalProblem(field: SeveralField, value: FormValue): Problem | undefined {
  const { choices, takesOther, minItems = 0, maxItems = Infinity } = field;
  if (!Array.isArray(value) || !value.every((one) => takesOther || isAmong(choices, one))) {
    return 'Choose among the choices.';
  }
  if (value.length < minItems) return `Choose at least ${minItems}.`;
  return value.length > maxItems ? `Choose at most ${maxItems}.` : undefined;
}

function numberProblem(field: NumberField, value: FormValue): Problem | undefined {
  const { isWhole, minimum, maximum } = field;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return isWhole ? 'Give a whole number, such as 3.' : 'Give a number, such as 1.5.';
  }
  if (isWhole && !Number.isInteger(value)) return 'Give a whole number.';
  if (minimum !== undefined && value < minimum) return `Give ${minimum} or more.`;
  return maximum !== undefined && value > maximum ? `Give ${maximum} or less.` : undefined;
}

function textProblem(field: TextField, value: FormValue): Problem | undefined {
  // Only the agent knows what an unknown field accepts, so only the agent checks the value.
  if (field.isUnknown) return undefined;
  if (field.isList) return Array.isArray(value) ? undefined : 'Give a list of texts.';
  if (typeof value !== 'string') return 'Give a text.';
  const { format, minLength = 0, maxLength = Infinity, pattern } = field;
  // JSON Schema counts lengths in code points.
  const length = Array.from(value).length;
  if (length < minLength) return `Give at least ${characters(minLength)}; these are ${length}.`;
  if (length > maxLength) return `Give at most ${characters(maxLength)}; these are ${length}.`;
  if (format !== undefined && !formats[format].fits(value)) return formats[format].problem;
  if (pattern === undefined || matches(pattern, value)) return undefined;
  return `This does not match the required pattern: ${pattern}`;
}

const characters = (count: number): string =>
  `${count} ${count === 1 ? 'character' : 'characters'}`;

const formats: Record<TextFormat, { fits: (text: string) => boolean; problem: Problem }> = {
  email: {
    fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
    problem: 'Give an e-mail address, such as ada@example.org.',
  },
  uri: {
    fits: (text) => z.url().safeParse(text).success,
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

/**
 * The most steps of a match; this many steps take about 10 ms. Texts with slower patterns are checked only by the
 * agent, because such a match may never finish.
 */
const mostSteps = 1e6;
/**
 * The longest text and the longest pattern to match, in characters. The agent itself checks longer texts and patterns.
 */
const longestMatched = 500;

/**
 * Returns whether a text matches a pattern. Returns true for patterns that cannot be parsed: the agent checks the text.
 */
function matches(pattern: string, text: string): boolean {
  if (text.length > longestMatched || pattern.length > longestMatched) return true;
  if (mostStepsOf(pattern, text.length) > mostSteps) return true;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

/**
 * An upper bound for the steps of matching a text of this length. The start and each quantifier multiply the steps by
 * the length; each alternative doubles them. Infinite for a pattern with a repeated group.
 */
function mostStepsOf(pattern: string, length: number): number {
  const plain = pattern
    .replaceAll(/\\[^]/g, 'x')
    .replaceAll(/\[[^\]]*\]/g, 'x')
    .replaceAll('(?', '(');
  if (/\)[*+{]/.test(plain)) return Number.POSITIVE_INFINITY;
  const quantifiers = plain.replaceAll(/\{\d+\}/g, '').match(/[*+?{]/g)?.length ?? 0;
  const alternatives = plain.split('|').length - 1;
  const starts = plain.startsWith('^') && alternatives === 0 ? 0 : 1;
  return 2 ** alternatives * (length + 1) ** (quantifiers + starts);
}
