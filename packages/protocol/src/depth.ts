import { closeList, closeObject, eachMark, openList, openObject } from './json-marks.ts';

/** JSON that is nested deeper than this is cut there: nobody could rely on it being written, compared or drawn. */
export const maxDepth = 200;

const cutHere = '… (cut here: nested too deeply)';

/** The same text of JSON; where it is nested too deeply, with a text that says so in place of what is inside. */
export function cutDepth(json: string): string {
  if (json.length <= 2 * maxDepth || isFlat(json)) return json;
  const kept: string[] = [];
  let from = 0;
  let depth = 0;
  eachMark(json, (mark, at) => {
    if (mark === openList || mark === openObject) {
      depth += 1;
      if (depth === maxDepth + 1) kept.push(json.slice(from, at), JSON.stringify(cutHere));
    } else if (mark === closeList || mark === closeObject) {
      depth -= 1;
      if (depth === maxDepth) from = at + 1;
    }
  });
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
  if (depth === 0) return cutHere;
  if (Array.isArray(value)) return value.map((one) => copied(one, depth - 1));
  const fields = Object.entries(value).map(([key, one]) => [key, copied(one, depth - 1)] as const);
  return Object.fromEntries(fields);
}
