import {
  type AcceptedContent,
  blobMax,
  blobsTogetherMax,
  blocksMax,
  type ContentBlock,
  whyNotAccepted,
  whyTooLarge,
} from '@liminal/protocol';

/** The agent that a message is for, and the content types that it accepts, if reported. */
export interface Recipient {
  name: string;
  accepts: AcceptedContent | undefined;
}

/** Why each attachment of a message cannot be sent, in a sentence; undefined for those that can. */
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

/** The attachment's name, type and size (bytes) as shown to people. */
export function fileInfo(block: ContentBlock): {
  name: string | undefined;
  mimeType: string | undefined;
  size: number | undefined;
} {
  const { name, mimeType, size } = block.type === 'resource' ? block.resource : block;
  return { name, mimeType, size };
}
