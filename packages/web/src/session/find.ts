import { joinTurns, type TurnView } from '@liminal/client';
import type { UpsertObject } from '@liminal/protocol';

/** Returns the ids of all items that contain a text, ignoring case, from the first item to the last. */
export function findText(turns: readonly TurnView[], text: string): string[] {
  const sought = text.toLowerCase();
  if (sought.trim() === '') return [];
  return joinTurns(turns)
    .flatMap(({ items }) => items)
    .filter((item) => textsOf(item).some((one) => one.toLowerCase().includes(sought)))
    .map(({ itemId }) => itemId);
}

/** Returns the texts of an item that the page can show. */
function textsOf(item: UpsertObject): string[] {
  switch (item.type) {
    case 'message':
    case 'thinking':
      return [item.content];
    case 'tool_call': {
      const { title = '', toolOutput = '', toolArguments, diffs = [] } = item;
      const changed = diffs.flatMap((diff) => [diff.path, diff.oldText ?? '', diff.newText ?? '']);
      return [title, toolOutput, ...Object.values(toolArguments).map(searchableText), ...changed];
    }
    case 'plan':
      return item.entries.map(({ content }) => content);
    case 'file_changes':
      return item.diffs.map(({ path }) => path);
    // A request that belongs to a call is shown with the call, or above the composer.
    case 'approval':
      return item.callId === undefined ? [item.title, item.description ?? ''] : [];
    case 'error':
      return [item.errorMessage ?? ''];
  }
}

const searchableText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Returns the ranges at which an element on the page contains a text, ignoring case. */
export function rangesOf(element: Element, text: string): Range[] {
  const sought = text.toLowerCase();
  const ranges: Range[] = [];
  if (sought.trim() === '') return ranges;
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const words = (node.nodeValue ?? '').toLowerCase();
    // Skip a text if one of its letters is longer in lower case, since that would shift the ranges after this letter.
    if (words.length !== node.nodeValue?.length) continue;
    for (let at = words.indexOf(sought); at >= 0; at = words.indexOf(sought, at + sought.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + sought.length);
      ranges.push(range);
    }
  }
  return ranges;
}
