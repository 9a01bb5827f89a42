import { wellFormed } from '../../loop/sendable.ts';

/** The JSON of objects that have been written before. */
const written = new WeakMap<object, string>();

/**
 * The JSON of a request, as `JSON.stringify` writes it, without lone surrogates. Elements of the lists in its fields must never
 * change: a conversation only grows, and each of its requests contains the earlier one.
 */
export function requestJson(request: object): string {
  const fields = Object.entries(request).flatMap(([name, value]: [string, unknown]) => {
    const json = Array.isArray(value) ? listOf(value) : JSON.stringify(wellFormed(value));
    return json === undefined ? [] : `${JSON.stringify(name)}:${json}`;
  });
  return `{${fields.join(',')}}`;
}

const listOf = (list: readonly unknown[]): string => `[${list.map(elementOf).join(',')}]`;

function elementOf(element: unknown): string {
  if (typeof element !== 'object' || element === null)
    return JSON.stringify(wellFormed(element)) ?? 'null';
  const known = written.get(element);
  if (known !== undefined) return known;
  const json = JSON.stringify(wellFormed(element));
  written.set(element, json);
  return json;
}
