import { closeList, closeObject, eachMark, openList, openObject } from './json-marks.ts';

/**
 * The deepest nesting of stored JSON, in levels. Deeper parts are cut, because they could not be written, compared or
 * drawn reliably.
 */
export const maxDepth = 200;

const cutHere = '… (cut here: nested too deeply)';

/** Returns the JSON text with each part that is nested too deeply replaced by a note. */
export function cutDepth(json: string): string {
  if (json.length <= 2 * maxDepth || isFlat(json)) return json;
  const pieces: string[] = [];
  let from = 0;
  let depth = 0;
  eachMark(json, (mark, at) => {
    if (mark === openList || mark === openObject) {
      depth += 1;
      if (depth === maxDepth + 1) pieces.push(json.slice(from, at), JSON.stringify(cutHere));
    } else if (mark === closeList || mark === closeObject) {
      depth -= 1;
      if (depth === maxDepth) from = at + 1;
    }
  });
  return pieces.length === 0 ? json : pieces.join('') + json.slice(from);
}

/**
 * Returns whether the text has so few brackets that it cannot be nested too deeply. This check is much faster than
 * parsing.
 */
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

/** Whether `cutDepth` has already cut this JSON, or would cut it now. */
export const isDepthCut = (json: string): boolean =>
  json.includes(JSON.stringify(cutHere)) || cutDepth(json) !== json;

/** Does for a parsed value what `cutDepth` does for a text. Returns the value itself if it is not nested too deeply. */
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
