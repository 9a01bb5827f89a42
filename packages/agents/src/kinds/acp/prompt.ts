import type { ContentBlock } from '@liminal/protocol';

/** Converts a user message to an ACP prompt. */
export function acpPrompt(text: string, blocks: readonly ContentBlock[]): object[] {
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

/** Returns the URI of an embedded file: not a file URI, so that the agent does not look for the file on the disk. */
const addressOf = (name: string): string =>
  URL.canParse(name) ? name : `attachment:///${encodeURIComponent(name)}`;
