/** An id as every database can hold it: what it cannot (\u0000, lone surrogates) is escaped as in JSON. */
export function textKey(id: string): string {
  return JSON.stringify(id).slice(1, -1);
}

/** The id that such a key stands for. */
export function idOf(key: string): string {
  return JSON.parse(`"${key}"`) as string;
}
