import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { cutText, headOf, sizeOf, tailOf, withinSize } from './size.ts';

const all = Number.MAX_SAFE_INTEGER;
const mark = '... (cut here: too long)';

test('a value that is small enough is returned unchanged, as the same object', () => {
  const value = { a: ['text', 1, null], b: { c: true } };
  expect(withinSize(value, 1_000)).toBe(value);
});

test('a text that is too long is cut and marked, and the other parts of the value do not change', () => {
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

test('a cut leaves no lone surrogate', () => {
  expect(cutText('ab😀', 3)).toBe(`ab${mark}`);
  expect(cutText('ab😀c', 4)).toBe(`ab😀${mark}`);
});

it('the head and the tail of a well-formed text are well-formed, and are as long as possible', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '😀', 'ü', '👩‍💻') });
  fc.assert(
    fc.property(text, fc.nat(30), (whole, length) => {
      const [head, tail] = [headOf(whole, length), tailOf(whole, length)];
      expect([head.isWellFormed(), tail.isWellFormed()]).toEqual([true, true]);
      expect([whole.startsWith(head), whole.endsWith(tail)]).toEqual([true, true]);
      for (const part of [head, tail]) {
        expect(part.length).toBeLessThanOrEqual(length);
        expect(part.length).toBeGreaterThanOrEqual(Math.min(whole.length, length) - 1);
      }
    }),
  );
});

it('any value that is too large is cut to about the given size, and can be written and read', () => {
  const value = fc.anything({ maxDepth: 4, maxKeys: 20, values: [fc.string({ maxLength: 400 })] });
  fc.assert(
    fc.property(value, fc.integer({ min: 50, max: 2_000 }), (one, room) => {
      const cut = withinSize(one, room);
      // Each cut text may exceed the size by the length of its mark or by its first few characters.
      const [before, after] = [sizeOf(one, all), sizeOf(cut, all)];
      expect(after).toBeLessThanOrEqual(Math.max(room, before <= room ? before : room + 12_000));
      expect(Array.isArray(cut)).toBe(Array.isArray(one));
      expect(typeof cut).toBe(typeof one);
      expect(JSON.parse(JSON.stringify({ cut }))).toBeDefined();
    }),
  );
});

test('an object of very many fields, and a list of as many texts, are cut to the given size', () => {
  const fields = Object.fromEntries(
    Array.from({ length: 200_000 }, (_, index) => [`k${index}`, 'text']),
  );
  expect(sizeOf(withinSize(fields, 10_000), all)).toBeLessThan(12_000);
  expect(sizeOf(withinSize(Object.values(fields), 10_000), all)).toBeLessThan(12_000);
});

test('the size of a value is the length of its JSON, or at most one and a half times this length', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', ' ') });
  const value = fc.anything({ maxDepth: 3, key: texts, values: [texts] });
  fc.assert(
    fc.property(value, (one) => {
      const { length } = JSON.stringify(one);
      expect(sizeOf(one, all)).toBeGreaterThanOrEqual(length);
      expect(sizeOf(one, all)).toBeLessThanOrEqual(1.5 * length + 2);
    }),
  );
  expect([7, true, null].map((one) => sizeOf(one, all))).toEqual([8, 8, 8]);
});

test('measuring stops at the given limit', () => {
  const list = Array.from({ length: 1_000 }, () => 'text');
  for (const large of [list, Object.assign({}, list), [list], { list }]) {
    expect(sizeOf(large, 100)).toBeGreaterThan(100);
    expect(sizeOf(large, 100)).toBeLessThan(130);
  }
});

test('if no room is left, texts that are as short as names are kept, and longer texts are cut and marked', () => {
  const [name, long] = ['x'.repeat(64), 'y'.repeat(65)];
  expect(withinSize({ name, long, other: name, count: 7, none: null }, 10)).toEqual({
    name,
    long: mark,
    other: name,
    count: 7,
    none: null,
  });
});

test('a single text is cut to the given size', () => {
  expect(withinSize('x'.repeat(500), 200)).toBe(`${'x'.repeat(200)}${mark}`);
  expect(withinSize('x'.repeat(198), 200)).toBe('x'.repeat(198));
});

test('a list is cut where it exceeds the size, and an object is cut after a hundred fields', () => {
  const list = Array.from({ length: 100 }, (_, index) => `${index % 10}`);
  const cut = withinSize({ list, kind: 'list' }, 60);
  expect(cut).toEqual({ list: list.slice(0, 12), kind: 'list' });
  const numbers = Array.from({ length: 100 }, () => 7);
  expect(withinSize(numbers, 92)).toHaveLength(10);
  const fields = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, 'v']));
  expect(Object.keys(withinSize(fields, 10))).toHaveLength(100);
});
