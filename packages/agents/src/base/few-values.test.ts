import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJson, withFewValues } from './few-values.ts';

const many = Array.from({ length: 250_000 }, (_, n) => n);
const message = (update: unknown): object => ({ params: { sessionId: 's', update } });
const parsed = (json: string | undefined): unknown => JSON.parse(json ?? 'null');

test('a message with few values is unchanged', () => {
  const update = { rawInput: { deep: [[1, { a: null }], 'x'] }, list: many.slice(0, 90_000) };
  const json = JSON.stringify(message(update));
  expect(withFewValues(json)).toBe(json);
});

test('in a message with too many values, the deepest and largest parts become JSON strings, and the other parts stay', () => {
  const update = { id: 'c', rawInput: { command: ['ls', '],{'] }, rawOutput: { many }, last: [] };
  const json = JSON.stringify(message(update));
  expect(parsed(withFewValues(json))).toStrictEqual(
    message({ ...update, rawOutput: { many: JSON.stringify(many) } }),
  );
});

test('if replacing deep parts is not enough, the parts around them become JSON strings', () => {
  const fields = Object.fromEntries(many.map((n) => [`f${n}`, [n]]));
  const words = JSON.stringify(fields);
  expect(parsed(withFewValues(JSON.stringify(message(fields))))).toStrictEqual(message(words));
  expect(parsed(withFewValues(JSON.stringify({ result: fields })))).toStrictEqual({
    result: words,
  });
  expect(withFewValues(words)).toBeUndefined();
});

test('the text around a replaced part does not change', () => {
  const words = JSON.stringify(many);
  fc.assert(
    fc.property(fc.json(), fc.json(), (one, other) => {
      const json = `{"params":{"update":{"a":${one},"many":${words},"b":${other}},"c":${one}}}`;
      const [a, b] = [one, other].map((text) => JSON.parse(text) as unknown);
      const update = { a, many: words, b };
      expect(parsed(withFewValues(json))).toEqual({ params: { update, c: a } });
    }),
    { numRuns: 20 },
  );
});

test('`toJson` returns a replaced field’s JSON, and encodes other strings', () => {
  expect(toJson(JSON.stringify(many))).toBe(JSON.stringify(many));
  for (const value of ['[1,2]', '{', 'x'.repeat(60_000), { a: 1 }]) {
    expect(toJson(value)).toBe(JSON.stringify(value));
  }
});
