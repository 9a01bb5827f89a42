/**
 * A run's items: in order of start, by id, and calls with their answers. A step's cost does not depend on the number of
 * items.
 */
import type { OutputItem } from '../items.ts';
import { familyOf } from './pair-answers.ts';
import { PersistentMap } from './persistent-map.ts';

/** One part of a family of items: some of their ids, in order of start. */
interface Part {
  family: string;
  number: number;
  ids: readonly string[];
}

export interface ItemList {
  readonly byId: PersistentMap<OutputItem>;
  /** The parts of all families, by key. A family is split because an agent may give one id to all its calls. */
  readonly parts: PersistentMap<Part>;
  /** The key of each item's part. */
  readonly partOf: PersistentMap<string>;
  /** The number of each family's newest part. */
  readonly newest: PersistentMap<number>;
}

export const noItems: ItemList = {
  byId: PersistentMap.empty<OutputItem>(),
  parts: PersistentMap.empty<Part>(),
  partOf: PersistentMap.empty<string>(),
  newest: PersistentMap.empty<number>(),
};

/** The number of ids in a part. An answer is matched only with a call of its part. */
const partSize = 32;

/** Replaces the item with the same id, or adds the item at the end. */
export function putItem(list: ItemList, item: OutputItem): ItemList {
  const family = familyOf(item);
  const left = partHolding(list, item.id)?.family === family ? list : leave(list, item.id);
  const next = { ...left, byId: list.byId.set(item.id, item) };
  return family === undefined ? next : join(next, item.id, family);
}

export function removeItem(list: ItemList, id: string): ItemList {
  return { ...leave(list, id), byId: list.byId.delete(id) };
}

/** The ids of an item and of all items that it could be paired with; empty for an unknown item. */
export function kinOf(list: ItemList, id: string): readonly string[] {
  const part = partHolding(list, id);
  if (part === undefined) return list.byId.has(id) ? [id] : [];
  const { family, number } = part;
  return [number - 1, number, number + 1].flatMap(
    (one) => list.parts.get(keyOf(family, one))?.ids ?? [],
  );
}

/** Those of the ids that exist, in order of start. */
export function inOrder({ byId }: ItemList, ids: Iterable<string>): string[] {
  return Array.from(ids, (id) => ({ id, place: byId.placeOf(id) }))
    .filter((found) => found.place !== undefined)
    .toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
    .map(({ id }) => id);
}

function partHolding({ parts, partOf }: ItemList, id: string): Part | undefined {
  const key = partOf.get(id);
  return key === undefined ? undefined : parts.get(key);
}

function leave(list: ItemList, id: string): ItemList {
  const part = partHolding(list, id);
  if (part === undefined) return list;
  const key = keyOf(part.family, part.number);
  const ids = part.ids.filter((other) => other !== id);
  const parts = ids.length > 0 ? list.parts.set(key, { ...part, ids }) : list.parts.delete(key);
  return { ...list, parts, partOf: list.partOf.delete(id) };
}

function join(list: ItemList, id: string, family: string): ItemList {
  if (list.partOf.has(id)) return list;
  const last = list.newest.get(family) ?? 0;
  const isFull = (list.parts.get(keyOf(family, last))?.ids.length ?? 0) >= partSize;
  const number = isFull ? last + 1 : last;
  const key = keyOf(family, number);
  const ids = [...(list.parts.get(key)?.ids ?? []), id];
  return {
    ...list,
    parts: list.parts.set(key, { family, number, ids }),
    partOf: list.partOf.set(id, key),
    newest: isFull ? list.newest.set(family, number) : list.newest,
  };
}

const keyOf = (family: string, number: number): string => `${number}:${family}`;
