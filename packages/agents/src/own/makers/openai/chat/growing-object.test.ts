import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingObject } from './growing-object.ts';

/** Whether the pieces together form a complete object. */
function isWhole(...pieces: readonly string[]): boolean {
  const object = new GrowingObject();
  for (const piece of pieces) object.add(piece);
  return object.isComplete;
}

test('an object is complete with its last bracket, at whatever points its text is cut', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(object, fc.nat(), fc.constantFrom('', ' ', '\n'), (value, cut, blank) => {
      const text = `${blank}${JSON.stringify(value)}${blank}`;
      const at = cut % text.length;
      expect(isWhole(text.slice(0, at), text.slice(at))).toBe(true);
      expect(isWhole(text.trimEnd().slice(0, -1))).toBe(false);
    }),
  );
});

test.each(['', ' ', '{', '{}{', '{} x', '[]', '[{}]', '"{}"', '1', '{"a":"}', '{"a":"\\"}', 'x{}'])(
  'the text %j is not a complete object',
  (text) => {
    expect(isWhole(text)).toBe(false);
  },
);
