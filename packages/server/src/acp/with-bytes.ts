import type * as Acp from '@agentclientprotocol/sdk/unstable';
import type { Runtime } from '@liminal/runtime';
import { ownMeta } from './fold/meta.ts';

const address = 'blob:';

/** Adds the bytes of blobs to an update. A blob that is no longer stored is replaced by a note. */
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
  if (found === undefined) return { type: 'text', text: '(This file is no longer stored.)' };
  if (block.type === 'resource') return resourceOf(block, Buffer.from(found.bytes));
  const data = Buffer.from(found.bytes).toString('base64');
  const { _meta: _, ...rest } = block as Acp.ImageContent & { type: 'image' };
  return { ...rest, data, ...ownMeta({ name: ownOf(block)['name'] }) };
}

function resourceOf(
  { resource }: Extract<Acp.ContentBlock, { type: 'resource' }>,
  bytes: Buffer,
): Acp.ContentBlock {
  const { mimeType } = resource;
  const { name } = ownOf(resource);
  const uri = addressOf(typeof name === 'string' ? name : 'file');
  const isText = mimeType?.startsWith('text/') === true;
  const content = isText ? { text: bytes.toString() } : { blob: bytes.toString('base64') };
  return { type: 'resource', resource: { uri, ...(mimeType != null && { mimeType }), ...content } };
}

/** Returns the name itself if it is a URL, otherwise an `attachment:` URI that contains the name. */
const addressOf = (name: string): string =>
  URL.canParse(name) ? name : `attachment:///${encodeURIComponent(name)}`;
