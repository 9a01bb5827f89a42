/** Returns an id in a form that every database can store: \u0000 and lone surrogates are escaped as in JSON. */
export function textKey(id: string): string {
  return JSON.stringify(id).slice(1, -1);
}

/** The id of a key; a damaged key is returned unchanged. */
export function idOfTextKey(key: string): string {
  try {
    return JSON.parse(`"${key}"`) as string;
  } catch {
    return key;
  }
}
