import type * as Acp from '@agentclientprotocol/sdk/unstable';
import type { Runtime } from '@liminal/runtime';
import { ownMeta } from './fold/meta.ts';

const address = 'blob:';

/** An update with the bytes that the fold has only named; what is no longer there is named in words. */
export async function withBytes(
  update: Acp.SessionUpdate,
  blobs: Pick<Runtime, 'getBlob'>,
): Promise<Acp.SessionUpdate> {
  if ('content' in update && update.content && !Array.isArray(update.content)) {
    const content = await filled(update.content, blobs);
    return content === update.content ? update : ({ ...update, content } as Acp.SessionUpdate);
  }
  const isCall =
    update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update';
  if (!isCall || update.content == null || !update.content.some(needsBytes)) return update;
  const content = await Promise.all(
    update.content.map(async (one) =>
      one.type === 'content' ? { ...one, content: await filled(one.content, blobs) } : one,
    ),
  );
  return { ...update, content };
}

const needsBytes = (one: Acp.ToolCallContent): boolean =>
  one.type === 'content' && hashIn(one.content) !== undefined;

function hashIn(block: Acp.ContentBlock): string | undefined {
  const uri = block.type === 'resource' ? block.resource.uri : ownOf(block)['blob'];
  return typeof uri === 'string' && uri.startsWith(address) ? uri.slice(address.length) : undefined;
}

function ownOf({ _meta: meta }: { _meta?: Record<string, unknown> | null }) {
  const own = meta?.['liminal'];
  return (typeof own === 'object' && own !== null ? own : {}) as Record<string, unknown>;
}

async function filled(
  block: Acp.ContentBlock,
  blobs: Pick<Runtime, 'getBlob'>,
): Promise<Acp.ContentBlock> {
  const hash = hashIn(block);
  if (hash === undefined) return block;
  const found = await blobs.getBlob(hash).catch(() => undefined);
  if (found === undefined) return { type: 'text', text: '(A file that is no longer there.)' };
  const data = Buffer.from(found.bytes).toString('base64');
  if (block.type === 'resource') return resourceOf(block, data);
  const { _meta: _, ...rest } = block as Acp.ImageContent & { type: 'image' };
  return { ...rest, data, ...ownMeta({ name: ownOf(block)['name'] }) };
}

function resourceOf(
  { resource }: Extract<Acp.ContentBlock, { type: 'resource' }>,
  blob: string,
): Acp.ContentBlock {
  const { mimeType } = resource;
  const { name } = ownOf(resource);
  const uri = `attachment:///${encodeURIComponent(typeof name === 'string' ? name : 'file')}`;
  return { type: 'resource', resource: { uri, ...(mimeType != null && { mimeType }), blob } };
}
