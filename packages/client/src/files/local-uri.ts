/** Names of files that are on this device, and that the server may not have yet: `local:<id>`. */
import { blobIn, type ContentBlock } from '@liminal/protocol';
import { newId } from '../new-id.ts';

const scheme = 'local:';

export const newLocalUri = (): string => `${scheme}${newId()}`;

/** Where a block's bytes lie, if it names them: `blob:<hash>` on the server, or `local:<id>` on this device. */
export function fileUri(block: ContentBlock): string | undefined {
  return localUri(block) ?? (blobIn(block) === undefined ? undefined : uriOf(block));
}

/** The name of the block's bytes on this device, if they are only here. */
export function localUri(block: ContentBlock): string | undefined {
  const uri = uriOf(block);
  return uri?.startsWith(scheme) === true ? uri : undefined;
}

/** The same block, with its bytes in another place. */
export function withUri(block: ContentBlock, uri: string): ContentBlock {
  if (block.type !== 'resource') return { ...block, uri };
  return { type: 'resource', resource: { ...block.resource, uri } };
}

function uriOf(block: ContentBlock): string | undefined {
  return block.type === 'resource' ? block.resource.uri : block.uri;
}
