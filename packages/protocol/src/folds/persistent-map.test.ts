import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PersistentMap } from './persistent-map.ts';

/** There are only a few different keys, so that keys recur. Many keys of the second kind have the same hash. */
const keys = fc.oneof(
  fc.nat({ max: 300 }).map((n) => `6d1f2c34-1c9a-4be3-8f6e-000000000000/item-${n}`),
  fc.array(fc.constantFrom('Aa', 'BB'), { maxLength: 5 }).map((halves) => halves.join('')),
);

const changes = fc.array(fc.record({ key: keys, value: fc.option(fc.nat(), { nil: undefined }) }), {
  maxLength: 400,
  size: 'max',
});

type Change = typeof changes extends fc.Arbitrary<(infer T)[]> ? T : never;

function apply(map: PersistentMap<number>, { key, value }: Change): PersistentMap<number> {
  return value === undefined ? map.delete(key) : map.set(key, value);
}

function expectSame(map: PersistentMap<number>, model: ReadonlyMap<string, number>): void {
  expect(map.size).toBe(model.size);
  expect(map.keys()).toEqual([...model.keys()]);
  expect(map.values()).toEqual([...model.values()]);
  for (const [key, value] of model) expect(map.get(key)).toBe(value);
}

describe('a persistent map', () => {
  it('has the entries of a Map, in the same order, after every change', () => {
    fc.assert(
      fc.property(changes, (all) => {
        const model = new Map<string, number>();
        let map = PersistentMap.empty<number>();
        for (const change of all) {
          if (change.value === undefined) model.delete(change.key);
          else model.set(change.key, change.value);
          map = apply(map, change);
          expect(map.has(change.key)).toBe(change.value !== undefined);
        }
        expectSame(map, model);
      }),
    );
  });

  it('keeps its entries when other maps are made from it', () => {
    fc.assert(
      fc.property(changes, changes, changes, (first, second, third) => {
        const old = first.reduce(apply, PersistentMap.empty<number>());
        const held = new Map(old.keys().map((key, index) => [key, old.values()[index] ?? NaN]));
        const one = second.reduce(apply, old);
        const other = third.reduce(apply, old);
        expectSame(old, held);
        expect(second.reduce(apply, old)).toEqual(one);
        expect(third.reduce(apply, old)).toEqual(other);
      }),
      { numRuns: 30 },
    );
  });

  it('keeps the position of a key until the key is deleted', () => {
    const map = PersistentMap.empty<string>().set('a', '1').set('b', '2').set('a', '3');
    expect([map.placeOf('a'), map.placeOf('b'), map.placeOf('c')]).toEqual([0, 1, undefined]);
    expect(map.delete('a').set('a', '4').keys()).toEqual(['b', 'a']);
    expect(map.delete('c')).toBe(map);
  });
});
