import { wellFormed } from '../../loop/sendable.ts';

/** Caches the JSON of elements. */
const written = new WeakMap<object, string>();

/**
 * Returns the JSON of a request, equal to that of `JSON.stringify`, but without lone surrogates. Elements of the lists
 * in the request's fields must never change: their JSON is cached, because each request of a conversation contains the
 * earlier ones.
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
