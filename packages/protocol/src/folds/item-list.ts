/** A run's items: in the order of their start, by id, and calls with their answers. A step costs the same however many there are. */
import type { OutputItem } from '../items.ts';
import { familyOf } from './pair-answers.ts';
import { PersistentMap } from './persistent-map.ts';

export interface ItemList {
  readonly byId: PersistentMap<OutputItem>;
  /** Ids of the calls and answers of each family. */
  readonly families: PersistentMap<readonly string[]>;
}

export const noItems: ItemList = {
  byId: PersistentMap.empty<OutputItem>(),
  families: PersistentMap.empty<readonly string[]>(),
};

/** With the item in the place of the one of that id, or at the end. */
export function putItem(list: ItemList, item: OutputItem): ItemList {
  const families = leave(list, item.id, familyOf(item));
  return { byId: list.byId.set(item.id, item), families: join(families, item) };
}

export function removeItem(list: ItemList, id: string): ItemList {
  return { byId: list.byId.delete(id), families: leave(list, id, undefined) };
}

/** Ids of an item and of all that it could be paired with; none if there is no such item. */
export function kinOf({ byId, families }: ItemList, id: string): readonly string[] {
  const item = byId.get(id);
  const family = item && familyOf(item);
  if (family !== undefined) return families.get(family) ?? [];
  return item ? [id] : [];
}

/** Those of the ids that there are, in the order of their start. */
export function inOrder({ byId }: ItemList, ids: Iterable<string>): string[] {
  return Array.from(ids, (id) => ({ id, place: byId.placeOf(id) }))
    .filter((found) => found.place !== undefined)
    .toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
    .map(({ id }) => id);
}

function leave(
  { byId, families }: ItemList,
  id: string,
  to: string | undefined,
): ItemList['families'] {
  const item = byId.get(id);
  const family = item && familyOf(item);
  if (family === undefined || family === to) return families;
  const rest = families.get(family)?.filter((other) => other !== id) ?? [];
  return rest.length > 0 ? families.set(family, rest) : families.delete(family);
}

function join(families: ItemList['families'], item: OutputItem): ItemList['families'] {
  const family = familyOf(item);
  if (family === undefined) return families;
  const known = families.get(family) ?? [];
  return known.includes(item.id) ? families : families.set(family, [...known, item.id]);
}
