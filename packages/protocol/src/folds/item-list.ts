/**
 * A run's items: a list in the order of their starts, an index by id, and the pairs of calls and answers. The cost of a
 * step does not depend on the number of items.
 */
import type { OutputItem } from '../items.ts';
import { familyOf } from './pair-answers.ts';
import { PersistentMap } from './persistent-map.ts';

/** One part of a family of items: up to `partSize` of the family's ids, in order of start. */
interface FamilyPart {
  family: string;
  number: number;
  ids: readonly string[];
}

export interface ItemList {
  readonly byId: PersistentMap<OutputItem>;
  /**
   * The parts of all families, by key. A family has several parts because an agent may give one id to all its calls.
   */
  readonly parts: PersistentMap<FamilyPart>;
  /** The key of each item's part. */
  readonly partOf: PersistentMap<string>;
  /** The number of each family's newest part. */
  readonly newestPart: PersistentMap<number>;
}

export const noItems: ItemList = {
  byId: PersistentMap.empty<OutputItem>(),
  parts: PersistentMap.empty<FamilyPart>(),
  partOf: PersistentMap.empty<string>(),
  newestPart: PersistentMap.empty<number>(),
};

/** The number of ids in a part. An answer is matched only with calls of the same part. */
const partSize = 32;

/** Replaces the item with the same id, or adds the item at the end. */
export function putItem(list: ItemList, item: OutputItem): ItemList {
  const family = familyOf(item);
  const left = partHolding(list, item.id)?.family === family ? list : removeFromPart(list, item.id);
  const next = { ...left, byId: list.byId.set(item.id, item) };
  return family === undefined ? next : addToPart(next, item.id, family);
}

export function removeItem(list: ItemList, id: string): ItemList {
  return { ...removeFromPart(list, id), byId: list.byId.delete(id) };
}

/** The ids of an item and of all items that it could be paired with; empty for an unknown item. */
export function pairableIds(list: ItemList, id: string): readonly string[] {
  const part = partHolding(list, id);
  if (part === undefined) return list.byId.has(id) ? [id] : [];
  const { family, number } = part;
  return [number - 1, number, number + 1].flatMap(
    (one) => list.parts.get(partKey(family, one))?.ids ?? [],
  );
}

/** Returns the given ids without those of unknown items, in the order in which the items started. */
export function orderedIds({ byId }: ItemList, ids: Iterable<string>): string[] {
  return Array.from(ids, (id) => ({ id, place: byId.placeOf(id) }))
    .filter((found) => found.place !== undefined)
    .toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
    .map(({ id }) => id);
}

function partHolding({ parts, partOf }: ItemList, id: string): FamilyPart | undefined {
  const key = partOf.get(id);
  return key === undefined ? undefined : parts.get(key);
}

function removeFromPart(list: ItemList, id: string): ItemList {
  const part = partHolding(list, id);
  if (part === undefined) return list;
  const key = partKey(part.family, part.number);
  const ids = part.ids.filter((other) => other !== id);
  const parts = ids.length > 0 ? list.parts.set(key, { ...part, ids }) : list.parts.delete(key);
  return { ...list, parts, partOf: list.partOf.delete(id) };
}

function addToPart(list: ItemList, id: string, family: string): ItemList {
  if (list.partOf.has(id)) return list;
  const last = list.newestPart.get(family) ?? 0;
  const isFull = (list.parts.get(partKey(family, last))?.ids.length ?? 0) >= partSize;
  const number = isFull ? last + 1 : last;
  const key = partKey(family, number);
  const ids = [...(list.parts.get(key)?.ids ?? []), id];
  return {
    ...list,
    parts: list.parts.set(key, { family, number, ids }),
    partOf: list.partOf.set(id, key),
    newestPart: isFull ? list.newestPart.set(family, number) : list.newestPart,
  };
}

const partKey = (family: string, number: number): string => `${number}:${family}`;
