import { closeList, closeObject, comma, eachMark, hasMoreValues } from '@liminal/protocol';

/** The most values (words, numbers, lists, objects) in a message; past that, the most in each of its fields. */
const maxValues = 100_000;
const maxFieldValues = 50_000;
/** How many lists and objects the deepest fields are inside: the input of a call, the fields of an update. */
const fieldDepth = 4;

/**
 * The same message as JSON, with few values, since each costs time and memory: parts with too many become their own
 * JSON, as a text. Mostly that is one field of an update; if that is not enough, outer parts. Undefined if there are
 * too many even then, which no real message has.
 */
export function withFewValues(json: string): string | undefined {
  let fewer = json;
  for (let depth = fieldDepth; hasMoreValues(fewer, maxValues); depth -= 1) {
    if (depth === 0) return undefined;
    fewer = putInWords(fewer, depth);
  }
  return fewer;
}

/** A value as JSON, including a value that `withFewValues` has made a text. */
export function jsonOf(value: unknown): string {
  const isJson =
    typeof value === 'string' && /^[[{]/.test(value) && hasMoreValues(value, maxFieldValues);
  return isJson ? value : JSON.stringify(value);
}

function putInWords(json: string, wanted: number): string {
  const kept: string[] = [];
  let from = 0;
  let depth = 0;
  let start = 0;
  let values = 0;
  eachMark(json, (mark, at) => {
    if (isClose(mark)) {
      depth -= 1;
      if (depth !== wanted || values <= maxFieldValues) return;
      kept.push(json.slice(from, start), JSON.stringify(json.slice(start, at + 1)));
      from = at + 1;
      return;
    }
    values += 1;
    if (mark === comma) return;
    if (depth === wanted) [start, values] = [at, 0];
    depth += 1;
  });
  return kept.join('') + json.slice(from);
}

const isClose = (mark: number): boolean => mark === closeList || mark === closeObject;
