/** The text of an item: the only field that deltas extend; its name depends on the item's type. */
import type { OutputItem } from '../items.ts';

/** A message's or reasoning's content, a call's arguments, an output's text; `''` for items without such a field. */
export function itemText(item: OutputItem): string {
  switch (item.type) {
    case 'message':
    case 'reasoning':
      return item.content;
    case 'function_call':
      return item.arguments;
    case 'function_call_output':
      return item.output;
    case 'script_execution':
      return item.code;
    case 'script_execution_output':
      return item.result;
    case 'error':
      return item.message;
    case 'plan':
    case 'file_changes':
    case 'approval':
      return '';
  }
}

export function withText(item: OutputItem, text: string): OutputItem {
  switch (item.type) {
    case 'message':
    case 'reasoning':
      return { ...item, content: text };
    case 'function_call':
      return { ...item, arguments: text };
    case 'function_call_output':
      return { ...item, output: text };
    case 'script_execution':
      return { ...item, code: text };
    case 'script_execution_output':
      return { ...item, result: text };
    case 'error':
      return { ...item, message: text };
    case 'plan':
    case 'file_changes':
    case 'approval':
      return item;
  }
}

/** Whether an item has anything to show: text or blocks. */
export function hasContent(item: OutputItem): boolean {
  const blocks = 'blocks' in item ? (item.blocks ?? []) : [];
  return itemText(item) !== '' || blocks.length > 0;
}
