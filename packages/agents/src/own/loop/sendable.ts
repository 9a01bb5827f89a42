/**
 * Repairs text that is not well-formed Unicode, and leaves out files whose bytes do not match their type. A server
 * rejects the whole conversation because of one lone surrogate or one damaged picture. Pure.
 */
import { crc32 } from 'node:zlib';
import { type ContentBlock, imageType, type OutputItem } from '@liminal/protocol';
import { commonImages, commonSounds } from '../../base/accepted-content.ts';

/**
 * Returns the JSON value in which each lone surrogate is replaced by U+FFFD; returns the value itself if it has no lone
 * surrogate.
 */
export const wellFormed = <Value>(value: Value): Value =>
  isWellFormed(value) ? value : (repaired(value) as Value);

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  for (const [name, one] of Object.entries(value)) {
    if (!name.isWellFormed() || !isWellFormed(one)) return false;
  }
  return true;
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(repaired);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name.toWellFormed(), repaired(one)]),
  );
}

/** Returns the item without the bytes of files that cannot be sent; the model then gets only the names of the files. */
export function withSendableFiles(item: OutputItem): OutputItem {
  return withBlocks(item, sendable);
}

/** Returns the item with each block replaced by the function's result; the item itself if no block changes. */
export function withBlocks(
  item: OutputItem,
  change: (block: ContentBlock) => ContentBlock,
): OutputItem {
  if (item.type !== 'message' && item.type !== 'function_call_output') return item;
  const { blocks = [] } = item;
  const changed = blocks.map(change);
  return changed.every((block, index) => block === blocks[index])
    ? item
    : { ...item, blocks: changed };
}

/** Returns the base64 bytes of a block; undefined if the block has none. */
export function bytesOf(block: ContentBlock): string | undefined {
  if (block.type === 'image' || block.type === 'audio') return block.data || undefined;
  return block.type === 'resource' ? block.resource.blob || undefined : undefined;
}

/** Returns the block without its bytes; the makers' clients then give the model only the block's name. */
export function withoutBytes(block: ContentBlock): ContentBlock {
  if (block.type === 'image' || block.type === 'audio') return { ...block, data: undefined };
  if (block.type !== 'resource') return block;
  return { ...block, resource: { ...block.resource, blob: undefined } };
}

const known = new WeakMap<ContentBlock, ContentBlock>();

/**
 * Returns the block, without its bytes if the bytes do not match the block's type. The result is cached, because
 * checking a large file needs much time.
 */
function sendable(block: ContentBlock): ContentBlock {
  const data = bytesOf(block);
  if (data === undefined) return block;
  let checked = known.get(block);
  if (checked === undefined) {
    checked = check(block, data);
    known.set(block, checked);
  }
  return checked;
}

function check(block: ContentBlock, data: string): ContentBlock {
  const bytes = Buffer.from(data, 'base64');
  const canonical = bytes.toString('base64');
  const type = mimeTypeOf(block) ?? '';
  const isImage = commonImages.includes(type);
  const seen = isImage ? imageType(bytes) : type;
  if (seen === undefined || !isCompleteFile(bytes, seen)) return withoutBytes(block);
  if (isImage && !commonImages.includes(seen)) return withoutBytes(block);
  return canonical === data && seen === type ? block : withBytes(block, canonical, seen);
}

const mimeTypeOf = (block: ContentBlock): string | undefined => {
  if (block.type === 'image' || block.type === 'audio') return block.mimeType;
  return block.type === 'resource' ? block.resource.mimeType : undefined;
};

/** Corrects a wrong image type and a different base64 alphabet. Tools produce both. */
function withBytes(block: ContentBlock, data: string, mimeType: string): ContentBlock {
  if (block.type === 'image' || block.type === 'audio') return { ...block, data, mimeType };
  if (block.type !== 'resource') return block;
  return { ...block, resource: { ...block.resource, blob: data, mimeType } };
}

/** Returns whether a file begins and ends as its type requires; true for other types. */
function isCompleteFile(bytes: Buffer, type: string): boolean {
  if (type in commonSounds) return isSound(bytes, commonSounds[type]);
  switch (type) {
    case 'image/png':
      return isPng(bytes);
    case 'image/jpeg':
      // Cameras append data after the end of the image, so the marker of the image's end may be at any position.
      return bytes.lastIndexOf(jpegEnd) > 0 && bytes.length > 100;
    case 'image/gif':
      return bytes.length > 13 && bytes.readUInt32LE(6) !== 0 && bytes.includes(0x3b, 13);
    case 'image/webp':
      return bytes.length >= 30 && bytes.length >= bytes.readUInt32LE(4) + 8;
    case 'application/pdf':
      return bytes.subarray(0, 1_024).includes('%PDF-');
    default:
      return true;
  }
}

const jpegEnd = Buffer.from('ffd9', 'hex');

function isPng(bytes: Buffer): boolean {
  if (bytes.length < 57 || bytes.toString('latin1', 12, 16) !== 'IHDR') return false;
  if (bytes.readUInt32BE(16) === 0 || bytes.readUInt32BE(20) === 0) return false;
  // Each chunk must be complete, up to the chunk that ends the image.
  let isDrawn = false;
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const [name, size] = [bytes.toString('latin1', at + 4, at + 8), bytes.readUInt32BE(at)];
    if (at + 12 + size > bytes.length) return false;
    if (crc32(bytes.subarray(at + 4, at + 8 + size)) !== bytes.readUInt32BE(at + 8 + size))
      return false;
    if (name === 'IDAT') isDrawn = true;
    if (name === 'IEND') return isDrawn;
  }
  return false;
}

function isSound(bytes: Buffer, format: 'wav' | 'mp3' | undefined): boolean {
  if (format === 'wav') {
    return /^RIFF(.{4}WAVE|.{0,7}$)/s.test(bytes.toString('latin1', 0, 12));
  }
  const isFrame = bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0;
  return isFrame || bytes.toString('latin1', 0, 3) === 'ID3';
}
