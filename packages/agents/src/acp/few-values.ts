import { closeList, closeObject, comma, eachMark } from '@liminal/protocol';

/** One field of an update has no more values (words, numbers, lists, objects) than this; a message a few times as many. */
const maxFieldValues = 50_000;
const maxValues = 4 * maxFieldValues;
/** In how many lists and objects the fields of an update stand. */
const fieldDepth = 3;

/**
 * The same message, as JSON; each value costs time and memory, so what has too many stands there as its own JSON, a
 * text. Mostly that is one field of an update; where that is not enough, what stands further out. Undefined for what
 * has too many even so, which no message has.
 */
export function withFewValues(json: string): string | undefined {
  let fewer = json;
  for (let depth = fieldDepth; hasMany(fewer); depth -= 1) {
    if (depth === 0) return undefined;
    fewer = putInWords(fewer, depth);
  }
  return fewer;
}

function hasMany(json: string): boolean {
  let values = 0;
  eachMark(json, (mark) => {
    if (!isClose(mark)) values += 1;
  });
  return values > maxValues;
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
