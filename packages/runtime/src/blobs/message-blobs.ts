import {
  blobMax,
  blobsTogetherMax,
  blobIn,
  blobUri,
  type ContentBlock,
  imageType,
  type UploadedBlob,
  whyTooLarge,
} from '@liminal/protocol';
import type { BlobStore } from '@liminal/storage';
import { errors } from '../errors.ts';
import { bytesIn, referTo, decodeText, withBytes } from './references.ts';

/** Stores an uploaded file. Throws `BLOB_TYPE_WRONG`, `BODY_TOO_LARGE`. */
export async function putBlob(
  blobs: BlobStore,
  bytes: Uint8Array,
  given: string,
): Promise<UploadedBlob> {
  const mimeType = checkedType(bytes, given, undefined);
  checkSize(bytes.length, blobMax, 'The file');
  const { hash, size } = await blobs.put(bytes, { mimeType });
  return { uri: blobUri(hash), mimeType, size };
}

/**
 * Stores the bytes of a message's blocks as uploads, and returns the blocks with references. Throws `BLOB_NOT_FOUND`
 * for a reference to a missing blob, `BLOB_TYPE_WRONG`, `BODY_TOO_LARGE`.
 */
export async function storeBlocks(
  blobs: BlobStore,
  blocks: readonly ContentBlock[],
): Promise<ContentBlock[]> {
  const stored: ContentBlock[] = [];
  let together = 0;
  for (const block of blocks) {
    const known = await readBytes(blobs, block);
    const bytes = known ?? bytesIn(block)?.bytes ?? Buffer.alloc(0);
    if (known === undefined && isWithoutBytes(block))
      throw errors.BLOB_TYPE_WRONG.empty(block.type === 'image' ? 'An image' : 'A file');
    const typed = withType(block, bytes);
    together += bytes.length;
    checkSize(bytes.length, blobMax, 'A file of the message');
    checkSize(together, blobsTogetherMax, 'What is attached to the message');
    const { block: reference, found } = referTo(typed);
    if (found) await blobs.put(found.bytes, { mimeType: found.mimeType });
    stored.push(known === undefined ? reference : withSize(typed, bytes.length));
  }
  return stored;
}

/** Returns blocks with their bytes, for an agent. Throws `BLOB_NOT_FOUND`. */
export async function loadBytes(
  blobs: BlobStore,
  blocks: readonly ContentBlock[],
): Promise<ContentBlock[]> {
  return Promise.all(
    blocks.map(async (block) => {
      const bytes = await readBytes(blobs, block);
      return bytes === undefined ? block : withBytes(block, bytes);
    }),
  );
}

/** The bytes of the blob that a block refers to; undefined if the block refers to no blob. */
async function readBytes(blobs: BlobStore, block: ContentBlock): Promise<Uint8Array | undefined> {
  const hash = blobIn(block);
  if (hash === undefined) return undefined;
  const blob = await blobs.get(hash);
  if (blob) return blob.bytes;
  throw errors.BLOB_NOT_FOUND.ofMessage();
}

/**
 * Returns whether a block contains neither bytes nor a reference to bytes. False for a block with the text of a file,
 * which may be empty.
 */
function isWithoutBytes(block: ContentBlock): boolean {
  if (block.type === 'resource_link') return false;
  if (block.type === 'resource' && block.resource.text !== undefined) return false;
  return bytesIn(block) === undefined;
}

function withType(block: ContentBlock, bytes: Uint8Array): ContentBlock {
  if (block.type === 'resource_link') return block;
  if (block.type !== 'resource') {
    return { ...block, mimeType: checkedType(bytes, block.mimeType, block.type) };
  }
  const { resource } = block;
  const given = resource.mimeType ?? (resource.text === undefined ? '' : 'text/plain');
  return {
    type: 'resource',
    resource: { ...resource, mimeType: checkedType(bytes, given, undefined) },
  };
}

function withSize(block: ContentBlock, size: number): ContentBlock {
  if (block.type === 'resource') return { type: 'resource', resource: { ...block.resource, size } };
  return { ...block, size };
}

const unknownType = 'application/octet-stream';

/** Returns a file's type: the given type if it fits the content. */
function checkedType(
  bytes: Uint8Array,
  given: string,
  kind: 'image' | 'audio' | undefined,
): string {
  const [named = ''] = given.toLowerCase().split(';');
  const mimeType = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(named.trim()) ? named.trim() : unknownType;
  const seen = imageType(bytes);
  if (/^image\/(png|jpeg|gif|webp)$/.test(mimeType) && seen !== mimeType) {
    const really = seen === undefined ? 'not a readable image' : `a ${seen}`;
    throw errors.BLOB_TYPE_WRONG.differs(mimeType, really);
  }
  if (kind !== undefined && !mimeType.startsWith(`${kind}/`)) {
    throw errors.BLOB_TYPE_WRONG.asMedia(mimeType, kind);
  }
  if (mimeType !== unknownType) return mimeType;
  return seen ?? (decodeText({ mimeType }, bytes) === undefined ? unknownType : 'text/plain');
}

function checkSize(size: number, max: number, what: string): void {
  const why = whyTooLarge(size, max, what);
  if (why !== undefined) throw errors.BODY_TOO_LARGE.because(why);
}
