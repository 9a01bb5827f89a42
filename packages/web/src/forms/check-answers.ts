import {
  type Field,
  type FieldValue,
  type FormContent,
  type FormValue,
  type TextField,
  valueProblem,
} from '@liminal/protocol';

/** The answers so far, by the name of their field. */
export type Answers = Readonly<Record<string, FieldValue>>;

export interface CheckedForm {
  /** The content to send, without empty fields. Undefined if there are problems. */
  content: FormContent | undefined;
  /**
   * The problems by field name, in a map: a field may have the name of a property that every object has, such as
   * `constructor`.
   */
  problems: ReadonlyMap<string, string>;
}

export function initialAnswers(fields: readonly Field[]): Answers {
  return Object.fromEntries(
    fields.map((field) => {
      const isTime = field.kind === 'text' && field.format === 'date-time';
      return [field.name, isTime ? toLocalTime(field.initial) : field.initial];
    }),
  );
}

export function checkForm(fields: readonly Field[], answers: Answers): CheckedForm {
  const given: [string, FormValue][] = [];
  const problems = new Map<string, string>();
  for (const field of fields) {
    const value = formValue(field, answers[field.name] ?? field.initial);
    const problem = valueProblem(field, value);
    if (problem !== undefined) problems.set(field.name, problem);
    else if (value !== undefined) given.push([field.name, value]);
  }
  return {
    content: problems.size === 0 ? Object.fromEntries(given) : undefined,
    problems,
  };
}

/**
 * Returns the answer's value as it is sent; undefined if the field has no answer. A text that is not a number becomes
 * `NaN`.
 */
function formValue(field: Field, answer: FieldValue): FormValue | undefined {
  switch (field.kind) {
    case 'switch':
      return answer === true;
    case 'several': {
      const chosen = Array.isArray(answer) ? answer.filter(isFilled) : [];
      return chosen.length === 0 && !field.isRequired ? undefined : chosen;
    }
    case 'one':
      return isFilled(String(answer)) ? String(answer).trim() : undefined;
    case 'number':
      return isFilled(String(answer)) ? parseNumber(String(answer).trim()) : undefined;
    case 'text':
      return isFilled(String(answer)) ? parseText(field, String(answer)) : undefined;
  }
}

const isFilled = (text: string): boolean => text.trim() !== '';

const parseNumber = (text: string): number =>
  /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;

function parseText({ format, isList }: TextField, text: string): FormValue {
  if (isList) return text.split('\n').filter(isFilled);
  if (format === undefined) return text;
  const time = format === 'date-time' ? new Date(text) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? text.trim() : time.toISOString();
}

/** Converts an ISO 8601 time to the format of a browser's time field: local time, without a zone. */
function toLocalTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return '';
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
