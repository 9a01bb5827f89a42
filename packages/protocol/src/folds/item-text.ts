/** The text of an item: the only field that deltas extend; its name depends on the item's type. */
import { type OutputItem, textKeys } from '../items.ts';

/**
 * Returns a message's or reasoning's content, a call's arguments, or an output's text. Returns `''` for items without
 * such a field.
 */
export function itemText(item: OutputItem): string {
  const [key] = textKeys[item.type];
  const text: unknown = key && Reflect.get(item, key);
  return typeof text === 'string' ? text : '';
}

export function withText(item: OutputItem, text: string): OutputItem {
  const [key] = textKeys[item.type];
  return key === undefined ? item : { ...item, [key]: text };
}

/** Whether an item has anything to show: text or blocks. */
export function hasContent(item: OutputItem): boolean {
  const blocks = 'blocks' in item ? (item.blocks ?? []) : [];
  return itemText(item) !== '' || blocks.length > 0;
}
