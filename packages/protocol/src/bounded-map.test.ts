import { expect, test } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

function mapOfTwo() {
  const removed: number[] = [];
  const map = new BoundedMap<string, number>(2, (value) => removed.push(value));
  map.set('a', 1);
  map.set('b', 2);
  return { map, removed };
}

test('when the map exceeds its size, the oldest entry is removed and reported', () => {
  const { map, removed } = mapOfTwo();
  expect(removed).toEqual([]);
  map.set('c', 3);
  expect([...map.keys()]).toEqual(['b', 'c']);
  expect(removed).toEqual([1]);
});

test('setting an entry again makes the entry the newest, but reading an entry does not', () => {
  const { map, removed } = mapOfTwo();
  map.set('a', 3);
  expect(map.get('b')).toBe(2);
  map.set('c', 4);
  expect([...map.keys()]).toEqual(['a', 'c']);
  expect(removed).toEqual([2]);
});

test('deleting an entry makes room, and returns whether there was an entry', () => {
  const { map, removed } = mapOfTwo();
  expect(map.delete('a')).toBe(true);
  expect(map.delete('a')).toBe(false);
  map.set('c', 3);
  map.clear();
  expect(map.has('c')).toBe(false);
  expect(removed).toEqual([]);
});
