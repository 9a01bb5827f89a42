import { closeList, closeObject, comma, eachMark, hasMoreValues } from '@liminal/protocol';

/** Values (words, numbers, lists, objects): where a message has more of them, each of its fields has no more than this. */
const maxValues = 100_000;
const maxFieldValues = 50_000;
/** In how many lists and objects the deepest of these stand: the input of a call, the fields of an update. */
const fieldDepth = 4;

/**
 * The same message, as JSON; each value costs time and memory, so what has too many stands there as its own JSON, a
 * text. Mostly that is one field of an update; where that is not enough, what stands further out. Undefined for what
 * has too many even so, which no message has.
 */
export function withFewValues(json: string): string | undefined {
  let fewer = json;
  for (let depth = fieldDepth; hasMoreValues(fewer, maxValues); depth -= 1) {
    if (depth === 0) return undefined;
    fewer = putInWords(fewer, depth);
  }
  return fewer;
}

/** A value as JSON, be it one that `withFewValues` has made a text. */
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
