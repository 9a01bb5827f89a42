import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { cutText, sizeOf, withinSize } from './size.ts';

const all = Number.MAX_SAFE_INTEGER;
const mark = '... (cut here: too long)';

test('a small enough value stays the same object', () => {
  const value = { a: ['text', 1, null], b: { c: true } };
  expect(withinSize(value, 1_000)).toBe(value);
});

test('a text that is too long is cut and says so; the rest keeps its shape', () => {
  const item = {
    type: 'message',
    content: 'x'.repeat(500),
    blocks: [{ data: 'y' }],
    origin: 'agent',
  };
  expect(withinSize(item, 200)).toEqual({
    type: 'message',
    content: expect.stringMatching(/^x{100,200}\.\.\. \(cut here: too long\)$/),
    blocks: [],
    origin: 'agent',
  });
});

test('no lone surrogate is left', () => {
  expect(cutText('ab😀', 3)).toBe(`ab${mark}`);
  expect(cutText('ab😀c', 4)).toBe(`ab😀${mark}`);
});

it('any value that is too large is cut to about the given size, and can be written and read', () => {
  const value = fc.anything({ maxDepth: 4, maxKeys: 20, values: [fc.string({ maxLength: 400 })] });
  fc.assert(
    fc.property(value, fc.integer({ min: 50, max: 2_000 }), (one, room) => {
      const cut = withinSize(one, room);
      // Each cut text may keep its mark or its few characters.
      const [before, after] = [sizeOf(one, all), sizeOf(cut, all)];
      expect(after).toBeLessThanOrEqual(Math.max(room, before <= room ? before : room + 12_000));
      expect(Array.isArray(cut)).toBe(Array.isArray(one));
      expect(typeof cut).toBe(typeof one);
      expect(JSON.parse(JSON.stringify({ cut }))).toBeDefined();
    }),
  );
});

test('an object of a million fields, and one of a million texts, are cut to their size', () => {
  const fields = Object.fromEntries(
    Array.from({ length: 1_000_000 }, (_, index) => [`k${index}`, 'text']),
  );
  expect(sizeOf(withinSize(fields, 10_000), all)).toBeLessThan(12_000);
  expect(sizeOf(withinSize(Object.values(fields), 10_000), all)).toBeLessThan(12_000);
});
