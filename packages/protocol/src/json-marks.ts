/** The codes of JSON's structural characters. */
export const [openList, closeList, openObject, closeObject, comma] = [91, 93, 123, 125, 44];
const [quote, backslash] = [34, 92];

/**
 * Calls `see` for each bracket and comma of a JSON text that is not inside a string, until `see` returns false. Takes
 * time proportional to the text's length, and does not parse the text.
 */
export function eachMark(json: string, see: (mark: number, at: number) => boolean | void): void {
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfString(json, at);
    else if (
      code === comma ||
      code === openList ||
      code === closeList ||
      code === openObject ||
      code === closeObject
    ) {
      if (see(code, at) === false) return;
    }
  }
}

/**
 * Returns whether a JSON text has more than `most` values (words, numbers, lists, objects): each value costs the parser
 * time and memory.
 */
export function hasMoreValues(json: string, most: number): boolean {
  let values = 0;
  eachMark(json, (mark) => {
    if (mark !== closeList && mark !== closeObject) values += 1;
    return values <= most;
  });
  return values > most;
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
