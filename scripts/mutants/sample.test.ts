import { expect, test } from 'vitest';
import { samplePieces } from './sample.ts';

const files = [
  { file: 'a.ts', lines: 25 },
  { file: 'b.ts', lines: 10 },
];
const all = ['a.ts:1-10', 'a.ts:11-20', 'a.ts:21-25', 'b.ts:1-10'];

test('random pieces have at most ten lines, and together all pieces cover all files', () => {
  expect(samplePieces(files, 100, 1).toSorted()).toEqual(all);
});

test('the same seed always gives the same pieces, and twenty seeds together give all pieces', () => {
  const drawn = Array.from({ length: 20 }, (_, seed) => samplePieces(files, 2, seed));
  expect(drawn.map((pieces) => new Set(pieces).size)).toEqual(drawn.map(() => 2));
  expect(Array.from({ length: 20 }, (_, seed) => samplePieces(files, 2, seed))).toEqual(drawn);
  expect(new Set(drawn.flat())).toEqual(new Set(all));
});
