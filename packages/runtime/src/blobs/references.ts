import { createHash } from 'node:crypto';
import { blobUri, type ContentBlock } from '@liminal/protocol';

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource'];

/** The bytes of a block, and their hash. */
export interface BlobBytes {
  hash: string;
  bytes: Buffer;
  mimeType: string;
}

/**
 * Returns the bytes that a block contains; undefined if it contains none. Data that is not base64 stays in the block.
 */
export function bytesIn(block: ContentBlock): Omit<BlobBytes, 'hash'> | undefined {
  if (block.type === 'resource_link') return undefined;
  if (block.type !== 'resource') return fromBase64(block.data, block.mimeType);
  const { text, blob, mimeType } = block.resource;
  if (text !== undefined && text === '') return undefined;
  if (text === undefined) return fromBase64(blob, mimeType ?? 'application/octet-stream');
  // UTF-8 cannot store half of a surrogate pair: the text would change.
  if (!text.isWellFormed()) return undefined;
  return { bytes: Buffer.from(text), mimeType: mimeType ?? 'text/plain' };
}

/** The same block with a reference instead of its bytes. */
export function referTo(block: ContentBlock): { block: ContentBlock; found?: BlobBytes } {
  const inside = bytesIn(block);
  if (inside === undefined || block.type === 'resource_link') return { block };
  const hash = createHash('sha256').update(inside.bytes).digest('hex');
  const named = { uri: blobUri(hash), size: inside.bytes.length };
  return { block: withReference(block, named), found: { hash, ...inside } };
}

/**
 * Returns a block whose bytes are stored elsewhere. If the block has an address of its own, the address becomes the
 * block's name.
 */
function withReference(
  block: Exclude<ContentBlock, { type: 'resource_link' }>,
  reference: { uri: string; size: number },
): ContentBlock {
  if (block.type !== 'resource') {
    const { data: _, uri, name = uri, ...rest } = block;
    return { ...rest, ...reference, ...named(name) };
  }
  const { text: _, blob: __, uri, name = uri, ...rest } = block.resource;
  return { type: 'resource', resource: { ...rest, ...reference, ...named(name) } };
}

const named = (name: string | undefined) =>
  name === undefined || name.startsWith('blob:') ? {} : { name };

/** Returns a block with its bytes, in the form that an agent gets: a text file as text. */
export function withBytes(block: ContentBlock, bytes: Uint8Array): ContentBlock {
  const data = (): string => Buffer.from(bytes).toString('base64');
  switch (block.type) {
    case 'image':
    case 'audio': {
      const { uri: _, ...rest } = block;
      return { ...rest, data: data() };
    }
    case 'resource': {
      const { uri, name = uri } = block.resource;
      const text = decodeText(block.resource, bytes);
      const content = text === undefined ? { blob: data() } : { text };
      return { type: 'resource', resource: { ...block.resource, uri: name, ...content } };
    }
    case 'resource_link':
      return block;
  }
}

/** Returns the text of a text file; undefined for other files. */
export function decodeText({ mimeType = '' }: Pick<Resource, 'mimeType'>, bytes: Uint8Array) {
  if (/^(image\/(?!svg)|audio\/|video\/|font\/|application\/(pdf|zip))/.test(mimeType))
    return undefined;
  if (bytes.includes(0)) return undefined;
  try {
    // Keeps the byte order mark, so that the same bytes are restored.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function fromBase64(
  data: string | undefined,
  mimeType: string,
): Omit<BlobBytes, 'hash'> | undefined {
  if (data === undefined || data === '') return undefined;
  const bytes = Buffer.from(data, 'base64');
  return bytes.toString('base64') === data ? { bytes, mimeType } : undefined;
}
