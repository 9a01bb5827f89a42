/** The names of files that are on this device and may not be on the server yet: `local:<id>`. */
import { blobIn, type ContentBlock } from '@liminal/protocol';
import { newId } from '../new-id.ts';

const scheme = 'local:';

export const newLocalUri = (): string => `${scheme}${newId()}`;

/**
 * Returns the name of a block's file, if it has a file: `blob:<hash>` on the server, or `local:<id>` on this device.
 */
export function fileUri(block: ContentBlock): string | undefined {
  return localUri(block) ?? (blobIn(block) === undefined ? undefined : uriOf(block));
}

/** Returns the local name of the block's file, if only this device has the file. */
export function localUri(block: ContentBlock): string | undefined {
  const uri = uriOf(block);
  return uri?.startsWith(scheme) === true ? uri : undefined;
}

/** Returns the same block with another name for its file. */
export function withUri(block: ContentBlock, uri: string): ContentBlock {
  if (block.type !== 'resource') return { ...block, uri };
  return { type: 'resource', resource: { ...block.resource, uri } };
}

function uriOf(block: ContentBlock): string | undefined {
  return block.type === 'resource' ? block.resource.uri : block.uri;
}
