import type { UpsertObject } from './upserts.ts';

/**
 * Adds an append's text to an item: to the content of a message or thought, or to a tool's output. Undefined if the
 * item does not have exactly `at` UTF-16 code units of that text: then the reader has missed something.
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
