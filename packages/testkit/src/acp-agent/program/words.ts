/**
 * The values of placeholders such as `{{cwd}}` and `{{terminal.terminalId}}`. These values are known only while a
 * script is played.
 */
export type Words = Record<string, unknown>;

const whole = /^\{\{([\w.]+)\}\}$/;
const within = /\{\{([\w.]+)\}\}/g;

/**
 * Replaces the placeholders in every string of a JSON value. A string that is only a placeholder becomes the
 * placeholder's value, of any type.
 */
export function fillIn(value: unknown, words: Words): unknown {
  if (typeof value === 'string') {
    const name = whole.exec(value)?.[1];
    if (name !== undefined) return find(name, words);
    return value.replaceAll(within, (_, inner: string) => String(find(inner, words)));
  }
  if (Array.isArray(value)) return value.map((one) => fillIn(one, words));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fillIn(one, words)]));
}

function find(path: string, words: Words): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null
          ? (value as Record<string, unknown>)[key]
          : undefined,
      words,
    );
}
