import { closeList, closeObject, comma, eachMark, hasMoreValues } from '@liminal/protocol';

/**
 * Limits on the number of values: each string, number, list or object counts as one value. If a message has more than
 * `maxValues` values, `maxFieldValues` limits each of its fields.
 */
const maxValues = 100_000;
const maxFieldValues = 50_000;
/** Nesting depth of the deepest fields: the input of a call, the fields of an update. */
const fieldDepth = 4;

/**
 * Returns the message with fewer values, because each value costs time and memory: each part with too many values is
 * replaced by a string that contains the part's JSON. Usually only one field of an update has too many values; if
 * replacing deep fields is not enough, the parts around them are replaced. Returns undefined if the message still has
 * too many values; no real message does.
 */
export function withFewValues(json: string): string | undefined {
  let fewer = json;
  for (let depth = fieldDepth; hasMoreValues(fewer, maxValues); depth -= 1) {
    if (depth === 0) return undefined;
    fewer = stringifyAtDepth(fewer, depth);
  }
  return fewer;
}

/**
 * Converts a value to JSON. If `withFewValues` has already replaced a value by a string with its JSON, returns that
 * string unchanged.
 */
export function toJson(value: unknown): string {
  const isJson =
    typeof value === 'string' && /^[[{]/.test(value) && hasMoreValues(value, maxFieldValues);
  return isJson ? value : JSON.stringify(value);
}

function stringifyAtDepth(json: string, wanted: number): string {
  const parts: string[] = [];
  let from = 0;
  let depth = 0;
  let start = 0;
  let values = 0;
  eachMark(json, (mark, at) => {
    if (isClose(mark)) {
      depth -= 1;
      if (depth !== wanted || values <= maxFieldValues) return;
      parts.push(json.slice(from, start), JSON.stringify(json.slice(start, at + 1)));
      from = at + 1;
      return;
    }
    values += 1;
    if (mark === comma) return;
    if (depth === wanted) [start, values] = [at, 0];
    depth += 1;
  });
  return parts.join('') + json.slice(from);
}

const isClose = (mark: number): boolean => mark === closeList || mark === closeObject;
