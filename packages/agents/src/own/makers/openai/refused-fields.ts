import { isRecord } from '../../../base/parse-line.ts';
import type { Complaint } from '../../loop/complaints.ts';

/** Fields that a request can omit. A field that is inside another field comes before that field. */
const optional = [
  'stream_options',
  'include',
  'store',
  'parallel_tool_calls',
  'tool_choice',
  'reasoning_effort',
  'reasoning.summary',
  'reasoning',
] as const;
type Field = (typeof optional)[number];

/** For each model, the fields that the server has refused as unknown. */
export class RefusedFields {
  readonly #byModel = new Map<string, Set<Field>>();

  /** Returns the request without the fields that the server has refused for this model. */
  without<Body extends object>(model: string, body: Body): Body {
    const refused = [...(this.#byModel.get(model) ?? [])];
    return refused.reduce<object>(leaveOut, body) as Body;
  }

  /**
   * Returns whether the error is about an optional field of this request; such a field is left out of further requests.
   */
  noteRefusal(model: string, body: object, complaint: Complaint): boolean {
    if (![400, 422].includes(complaint.status ?? 0)) return false;
    const field = optional.find((name) => isIn(body, name) && isAbout(complaint, name));
    if (field === undefined) return false;
    // A value that a person has chosen may be changed only by a person.
    if (complaint.code.endsWith('_value') && isChosen(body, field)) return false;
    this.#byModel.set(model, (this.#byModel.get(model) ?? new Set()).add(field));
    return true;
  }
}

const isIn = (body: object, field: Field): boolean => {
  const [outer = '', inner] = field.split('.');
  const value: unknown = (body as Record<string, unknown>)[outer];
  return inner === undefined ? value !== undefined : Object.hasOwn(value ?? {}, inner);
};

/**
 * Returns whether a person has chosen a field's value, for example the effort. Liminal chooses the values of all other
 * fields.
 */
const isChosen = (body: object, field: Field): boolean =>
  field === 'reasoning_effort' ||
  (field === 'reasoning' && isRecord(body) && Object.hasOwn(body['reasoning'] ?? {}, 'effort'));

function leaveOut(body: object, field: Field): object {
  const [outer = '', inner] = field.split('.');
  const { [outer]: value, ...rest } = body as Record<string, unknown>;
  if (inner === undefined || value === undefined) return rest;
  const { [inner]: _left, ...kept } = value as Record<string, unknown>;
  return Object.keys(kept).length === 0 ? rest : { ...rest, [outer]: kept };
}

/** Messages with which servers refuse a field without naming the field. */
const refusalPatterns: Partial<Record<Field, RegExp>> = {
  include: /encrypted content is not supported/i,
  'reasoning.summary': /reasoning summar(y|ies)/i,
  reasoning:
    /(does not|doesn['’]t) support (reasoning|thinking)|(reasoning|thinking) is not supported/i,
};

function isAbout({ param, words, body }: Complaint, field: Field): boolean {
  if (param !== '') return param === field || /^[.[]/.test(after(param, field));
  if (refusalPatterns[field]?.test(words) === true) return true;
  const name = field.replace('.', String.raw`\.`);
  const text = `${words} ${JSON.stringify(body) ?? ''}`;
  // A name must be quoted, because most of the names are also English words.
  const isQuoted = new RegExp(`["'\`]${name}(?:[.[][^"'\`]*)?\\\\?["'\`]`).test(text);
  return isQuoted || (field.includes('_') && new RegExp(String.raw`\b${name}\b`).test(text));
}

/** Returns the part of `text` after the prefix `start`; empty if `text` does not begin with `start`. */
const after = (text: string, start: string): string =>
  text.startsWith(start) ? text.slice(start.length) : '';
