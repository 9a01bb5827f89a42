import type { UpsertObject } from './upserts.ts';

/**
 * Returns the item with an append's text added: to the content of a message or thought, or to a tool's output. Returns
 * undefined if the item's text is not exactly `at` UTF-16 code units long: the reader has then missed an append.
 */
export function appendText(
  item: UpsertObject,
  { at, text }: { at: number; text: string },
): UpsertObject | undefined {
  switch (item.type) {
    case 'message':
    case 'thinking':
      if (item.content.length !== at) return undefined;
      return { ...item, content: item.content + text, status: 'update' };
    case 'tool_call': {
      const { toolOutput = '' } = item;
      if (toolOutput.length !== at) return undefined;
      return { ...item, toolOutput: toolOutput + text, status: 'update' };
    }
    case 'plan':
    case 'file_changes':
    case 'approval':
    case 'error':
      return undefined;
  }
}
