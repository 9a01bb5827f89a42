import type { ContentBlock } from './content.ts';
import type { AcceptedContent } from './sessions.ts';

/** Why an agent cannot take a message, in a sentence; undefined if it can. */
export function whyNotAccepted(
  agent: string,
  accepts: AcceptedContent,
  blocks: readonly ContentBlock[],
): string | undefined {
  const block = blocks.find((one) => !isAccepted(one, accepts));
  if (block === undefined || block.type === 'resource_link') return undefined;
  const patterns = accepts[block.type];
  const things = { image: 'images', audio: 'audio', resource: 'files' }[block.type];
  const taken = patterns.length === 0 ? '' : `, only ${patterns.join(', ')}`;
  const name = block.type === 'resource' ? block.resource.name : block.name;
  const which = name === undefined ? typeOf(block) : `“${name}” (${typeOf(block)})`;
  return `${agent} takes no such ${things}${taken}. Take ${which} out of the message.`;
}

function isAccepted(block: ContentBlock, accepts: AcceptedContent): boolean {
  if (block.type === 'resource_link') return true;
  const mimeType = typeOf(block);
  return accepts[block.type].some((pattern) =>
    pattern.endsWith('/*') ? mimeType.startsWith(pattern.slice(0, -1)) : pattern === mimeType,
  );
}

/** A file that is given as text counts as text, whatever it is. */
function typeOf(block: Exclude<ContentBlock, { type: 'resource_link' }>): string {
  if (block.type !== 'resource') return block.mimeType;
  const { mimeType = 'application/octet-stream', text } = block.resource;
  return text !== undefined && !mimeType.startsWith('text/') ? 'text/plain' : mimeType;
}
