import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestJson } from './json.ts';

test('a request’s JSON equals that of JSON.stringify, with and without cached parts', () => {
  const field = fc.oneof(
    fc.jsonValue(),
    fc.constant(undefined),
    fc.array(fc.oneof(fc.jsonValue(), fc.record({ a: fc.constant(undefined), b: fc.jsonValue() }))),
  );
  const request = fc.dictionary(fc.string({ unit: 'binary' }), field);
  fc.assert(
    fc.property(request, (said) => {
      expect([requestJson(said), requestJson(said)]).toEqual([
        JSON.stringify(said),
        JSON.stringify(said),
      ]);
    }),
  );
});

test('the JSON of an element is computed only once', () => {
  let writings = 0;
  const element = { toJSON: () => (writings += 1) };
  expect([requestJson({ list: [element] }), requestJson({ list: [element, 2] })]).toEqual([
    '{"list":[1]}',
    '{"list":[1,2]}',
  ]);
});
