import type { ContentBlock } from './content.ts';
import type { AcceptedContent } from './sessions.ts';

/** Why an agent does not accept a message, in one sentence; undefined if it accepts the message. */
export function whyNotAccepted(
  agent: string,
  accepts: AcceptedContent,
  blocks: readonly ContentBlock[],
): string | undefined {
  const block = blocks.find((one) => !isAccepted(one, accepts));
  if (block === undefined || block.type === 'resource_link') return undefined;
  const patterns = accepts[block.type];
  const things = { image: 'images', audio: 'audio', resource: 'files' }[block.type];
  const only = patterns.length === 0 ? '' : `, only ${patterns.join(', ')}`;
  const name = block.type === 'resource' ? block.resource.name : block.name;
  const which = name === undefined ? mimeTypeOf(block) : `“${name}” (${mimeTypeOf(block)})`;
  return `${agent} does not accept such ${things}${only}. Remove ${which} from the message.`;
}

function isAccepted(block: ContentBlock, accepts: AcceptedContent): boolean {
  if (block.type === 'resource_link') return true;
  const mimeType = mimeTypeOf(block);
  return accepts[block.type].some((pattern) =>
    pattern.endsWith('/*') ? mimeType.startsWith(pattern.slice(0, -1)) : pattern === mimeType,
  );
}

/**
 * Returns the block's MIME type; a file that is given as text counts as `text/plain` unless its own type is `text/…`.
 */
function mimeTypeOf(block: Exclude<ContentBlock, { type: 'resource_link' }>): string {
  if (block.type !== 'resource') return block.mimeType;
  const { mimeType = 'application/octet-stream', text } = block.resource;
  return text !== undefined && !mimeType.startsWith('text/') ? 'text/plain' : mimeType;
}
