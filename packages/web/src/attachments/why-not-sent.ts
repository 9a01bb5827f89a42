import {
  type AcceptedContent,
  blobMax,
  blobsTogetherMax,
  blocksMax,
  type ContentBlock,
  whyNotAccepted,
  whyTooLarge,
} from '@liminal/protocol';

/** The agent that receives a message, and the content types that the agent accepts, if it has reported them. */
export interface Recipient {
  name: string;
  accepts: AcceptedContent | undefined;
}

/**
 * Returns for each attachment of a message why it cannot be sent, as a sentence; undefined for an attachment that can
 * be sent.
 */
export function whyNotSent(
  blocks: readonly ContentBlock[],
  { name, accepts }: Recipient,
): (string | undefined)[] {
  let together = 0;
  return blocks.map((block, index) => {
    const { size } = fileInfo(block);
    if (index >= blocksMax) {
      return `${blocksMax} attachments at most. Remove this one.`;
    }
    if (size === 0) return 'This file is empty. Remove it.';
    const large = size === undefined ? undefined : whyTooLarge(size, blobMax, 'The file');
    if (large !== undefined) return large;
    const refused = accepts && whyNotAccepted(name, accepts, [block]);
    if (refused !== undefined) return refused;
    together += size ?? 0;
    return whyTooLarge(together, blobsTogetherMax, 'What is attached to the message');
  });
}

/** Returns the attachment's name, type and size (bytes) as the page shows them. */
export function fileInfo(block: ContentBlock): {
  name: string | undefined;
  mimeType: string | undefined;
  size: number | undefined;
} {
  const { name, mimeType, size } = block.type === 'resource' ? block.resource : block;
  return { name, mimeType, size };
}
