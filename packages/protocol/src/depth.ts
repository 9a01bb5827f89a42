/** JSON that is nested deeper than this is cut there: nobody could rely on it being written, compared or drawn. */
export const maxDepth = 200;

const mark = '… (cut here: nested too deeply)';

/** The same text of JSON; where it is nested too deeply, with a text that says so in place of what is inside. */
export function cutDepth(json: string): string {
  if (json.length <= 2 * maxDepth || isFlat(json)) return json;
  const kept: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      at = endOfString(json, at);
    } else if (code === openList || code === openObject) {
      depth += 1;
      if (depth === maxDepth + 1) kept.push(json.slice(from, at), JSON.stringify(mark));
    } else if (code === closeList || code === closeObject) {
      depth -= 1;
      if (depth === maxDepth) from = at + 1;
    }
  }
  return kept.length === 0 ? json : kept.join('') + json.slice(from);
}

/** Whether it has fewer brackets than could nest too deeply, wherever they stand: found many times as fast. */
function isFlat(json: string): boolean {
  let left = maxDepth;
  for (const open of ['[', '{']) {
    for (let at = json.indexOf(open); at !== -1; at = json.indexOf(open, at + 1)) {
      left -= 1;
      if (left < 0) return false;
    }
  }
  return true;
}

const [quote, backslash] = [34, 92];
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125];

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}

/** As `cutDepth`, of what has been parsed. What is not nested too deeply is given as it is. */
export function withinDepth<T>(value: T): T {
  return isWithin(value, maxDepth) ? value : (copied(value, maxDepth) as T);
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((one) => isWithin(one, depth - 1));
}

function copied(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return mark;
  if (Array.isArray(value)) return value.map((one) => copied(one, depth - 1));
  const fields = Object.entries(value).map(([key, one]) => [key, copied(one, depth - 1)] as const);
  return Object.fromEntries(fields);
}
