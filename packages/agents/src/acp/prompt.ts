import type { ContentBlock } from '@liminal/protocol';

/** A user message as an ACP prompt. */
export function promptOf(text: string, blocks: readonly ContentBlock[]): object[] {
  const words = text === '' && blocks.length > 0 ? [] : [{ type: 'text', text }];
  return [...words, ...blocks.map(promptBlock)];
}

function promptBlock(block: ContentBlock): object {
  switch (block.type) {
    case 'image':
    case 'audio': {
      const { type, mimeType, data } = block;
      return { type, mimeType, data };
    }
    case 'resource': {
      const { uri, name = uri, mimeType, text, blob } = block.resource;
      const content = text === undefined ? { blob } : { text };
      return { type: 'resource', resource: { uri: addressOf(name), mimeType, ...content } };
    }
    case 'resource_link':
      return block;
  }
}

/** An embedded file has an address, which leads nowhere: the agent must not look for it on the disk. */
const addressOf = (name: string): string =>
  URL.canParse(name) ? name : `attachment:///${encodeURIComponent(name)}`;
