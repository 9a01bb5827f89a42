import { expect, test } from 'vitest';
import { eachMark, hasMoreValues } from './json-marks.ts';

function marksOf(json: string): string {
  let marks = '';
  eachMark(json, (mark, at) => {
    expect(json.charCodeAt(at)).toBe(mark);
    marks += String.fromCharCode(mark);
  });
  return marks;
}

test.each([
  ['[1, {"a": [2]}]', '[,{[]}]'],
  ['"[{,}]"', ''],
  [String.raw`["\"[", "\\", ","]`, '[,,]'],
  [String.raw`["\\\"[", 1]`, '[,]'],
  ['["[', '['],
  ['', ''],
])('in %s, the brackets and commas outside strings are %s', (json, marks) => {
  expect(marksOf(json)).toBe(marks);
});

test('reading stops after the callback has returned false', () => {
  const seen: number[] = [];
  eachMark('[1, 2, 3]', (_, at) => {
    seen.push(at);
    return seen.length < 2;
  });
  expect(seen).toEqual([0, 2]);
});

test.each([
  ['[]', 1],
  ['[1, 2]', 2],
  ['{"a": [1], "b": {}}', 4],
])('%s has %d values', (json, values) => {
  expect(hasMoreValues(json, values)).toBe(false);
  expect(hasMoreValues(json, values - 1)).toBe(true);
});
