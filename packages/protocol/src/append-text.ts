import type { UpsertObject } from './upserts.ts';

/**
 * An item with text added to it, as an append says: to what a message or a thought says, or to what a tool has put
 * out. Undefined where the item does not hold exactly `at` UTF-16 code units of that text: something was missed then.
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
    case 'approval':
    case 'error':
      return undefined;
  }
}
