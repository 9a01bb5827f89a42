/**
 * Converts content blocks to ACP. If the bytes of a block are in the blob store, the block keeps its URI: `withBytes`
 * adds the bytes.
 */
import type * as Acp from '@agentclientprotocol/sdk';
import type { ContentBlock, FileDiff } from '@liminal/protocol';
import { ownMeta } from './meta.ts';

export function textBlock(text: string): Acp.ContentBlock {
  return { type: 'text', text };
}

export function blockOf(block: ContentBlock): Acp.ContentBlock {
  switch (block.type) {
    case 'image':
    case 'audio':
      return mediaOf(block);
    case 'resource': {
      const { uri, name, mimeType, text, blob } = block.resource;
      const type = mimeType === undefined ? {} : { mimeType };
      const content = text === undefined ? { blob: blob ?? '' } : { text };
      return { type: 'resource', resource: { uri, ...type, ...content, ...ownMeta({ name }) } };
    }
    case 'resource_link': {
      const { size, ...link } = block;
      return { ...link, ...(size !== undefined && { size: Math.round(size) }) };
    }
  }
}

type Media = Extract<ContentBlock, { type: 'image' | 'audio' }>;

function mediaOf({ type, mimeType, data, uri, name }: Media): Acp.ContentBlock {
  const isStored = data === undefined && uri?.startsWith('blob:') === true;
  if (data === undefined && uri !== undefined && !isStored) {
    // For bytes at a URL, ACP has only links.
    return { type: 'resource_link', uri, name: name ?? uri, mimeType };
  }
  const address = isStored ? { blob: uri } : {};
  return { type, mimeType, data: data ?? '', ...ownMeta({ name, ...address }) };
}

/** Converts the output of a tool call, and the file changes that the call makes. */
export function toolContent(
  text: string,
  blocks: readonly ContentBlock[],
  diffs: readonly FileDiff[],
): Acp.ToolCallContent[] {
  const content = [...(text === '' ? [] : [textBlock(text)]), ...blocks.map(blockOf)];
  return [
    ...content.map((one) => ({ type: 'content' as const, content: one })),
    // The line numbers are left out, because ACP has no field for them.
    ...diffs.map(({ path, newText, oldText }) => ({
      type: 'diff' as const,
      path,
      newText,
      ...(oldText !== undefined && { oldText }),
    })),
  ];
}
