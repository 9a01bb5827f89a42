import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutDepth, maxDepth, withinDepth } from './depth.ts';

/** The JSON of a value inside `depth` nested containers; lists and objects alternate. */
function nested(depth: number, inside: unknown): string {
  const open = Array.from({ length: depth }, (_, at) => (at % 2 === 0 ? '[' : '{"a\\"[":'));
  const close = open.map((one) => (one === '[' ? ']' : '}')).toReversed();
  return open.join('') + JSON.stringify(inside) + close.join('');
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map((one) => depthOf(one)));
}

test('JSON that is nested too deeply is cut and marked; the rest is unchanged', () => {
  const text = `{"before": "[[", "deep": ${nested(4_400, 'x')}, "after": [1, {"b": "]]\\\\"}]}`;
  const cut = JSON.parse(cutDepth(text));
  expect(cut).toMatchObject({ before: '[[', after: [1, { b: ']]\\' }] });
  expect(depthOf(cut)).toBe(maxDepth);
  expect(JSON.stringify(cut)).toContain('cut here: nested too deeply');
  expect(withinDepth(JSON.parse(text))).toEqual(cut);
});

test('JSON at the limit is unchanged', () => {
  const text = nested(maxDepth, 'innermost');
  expect(cutDepth(text)).toBe(text);
  const value: unknown = JSON.parse(text);
  expect(withinDepth(value)).toBe(value);
  expect(cutDepth(nested(maxDepth + 1, 'innermost'))).not.toContain('innermost');
});

test('JSON within the limit is unchanged, and `cutDepth` and `withinDepth` agree', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 0, max: 2 * maxDepth }), (json, depth) => {
      const inside: unknown = JSON.parse(json);
      const text = nested(depth, [inside, 'x'.repeat(2 * maxDepth)]);
      const value: unknown = JSON.parse(text);
      const cut: unknown = JSON.parse(cutDepth(text));
      expect(cut).toEqual(withinDepth(value));
      expect(depthOf(cut)).toBe(Math.min(maxDepth, depthOf(value)));
    }),
  );
});
