/** Our content in ACP's words. Bytes that only the blob store has keep their address, `blob:<hash>`: see `withBytes`. */
import type * as Acp from '@agentclientprotocol/sdk';
import type { ContentBlock, FileDiff } from '@liminal/protocol';

export function textBlock(text: string): Acp.ContentBlock {
  return { type: 'text', text };
}

export function blockOf(block: ContentBlock): Acp.ContentBlock {
  switch (block.type) {
    case 'image':
    case 'audio': {
      const { type, mimeType, data = '', uri } = block;
      return { type, mimeType, data, ...(uri !== undefined && { uri }) };
    }
    case 'resource': {
      const { uri, name, mimeType, text, blob } = block.resource;
      const type = mimeType === undefined ? {} : { mimeType };
      const named = name === undefined ? {} : { _meta: { name } };
      const content = text === undefined ? { blob: blob ?? '' } : { text };
      return { type: 'resource', resource: { uri, ...type, ...content, ...named } };
    }
    case 'resource_link':
      return block;
  }
}

/** What a tool has shown, and the changes of files that it makes. */
export function toolContent(
  text: string,
  blocks: readonly ContentBlock[],
  diffs: readonly FileDiff[],
): Acp.ToolCallContent[] {
  const content = [...(text === '' ? [] : [textBlock(text)]), ...blocks.map(blockOf)];
  return [
    ...content.map((one) => ({ type: 'content' as const, content: one })),
    ...diffs.map((diff) => ({ type: 'diff' as const, ...diff })),
  ];
}
