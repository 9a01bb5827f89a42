import { describeFile, type Files, withUri } from '@liminal/client';
import { blobMax, type ContentBlock } from '@liminal/protocol';
import { shrinkImage } from './shrink-image.ts';
import { fileInfo } from './why-not-sent.ts';

/** Stores a file on this device and returns the block that names the file. Rejects if the file cannot be read. */
export async function attachFile(file: File, files: Files): Promise<ContentBlock> {
  const small = await shrinkImage(file).catch(() => file);
  const name = attachedName(file, small);
  if (small.size > blobMax) return tooLarge(file, name);
  const bytes = new Uint8Array(await small.arrayBuffer());
  const block = describeFile({ name, type: small.type, bytes }, '');
  const type = fileInfo(block).mimeType ?? '';
  return withUri(block, await files.store(new Blob([bytes], { type })));
}

/** The file's name; if the image's type was changed, with the extension of the new type. */
function attachedName({ name, type }: File, small: Blob): string {
  if (small.type === type) return name;
  return `${name.replace(/\.\w+$/, '')}.${small.type.replace(/^image\//, '').replace('jpeg', 'jpg')}`;
}

/**
 * The block for a file that is too large. The file's bytes are neither read nor stored: the page shows only its name
 * and size.
 */
function tooLarge({ type, size }: File, name: string): ContentBlock {
  const mimeType = type === '' ? 'application/octet-stream' : type;
  return { type: 'resource', resource: { uri: 'local:too-large', mimeType, name, size } };
}
