import { describeFile, type Files, withUri } from '@liminal/client';
import { BLOB_MAX, type ContentBlock } from '@liminal/protocol';
import { shrinkImage } from './shrink-image.ts';
import { fileOf } from './why-not-sent.ts';

/** Keeps a file on this device, and gives the block that names it. Rejects if the file cannot be read. */
export async function attachFile(file: File, files: Files): Promise<ContentBlock> {
  const small = await shrinkImage(file).catch(() => file);
  const name = nameOf(file, small);
  if (small.size > BLOB_MAX) return tooLarge(file, name);
  const bytes = new Uint8Array(await small.arrayBuffer());
  const block = describeFile({ name, type: small.type, bytes }, '');
  const type = fileOf(block).mimeType ?? '';
  return withUri(block, await files.keep(new Blob([bytes], { type })));
}

/** An image whose type was changed is called by the new one. */
function nameOf({ name, type }: File, small: Blob): string {
  if (small.type === type) return name;
  return `${name.replace(/\.\w+$/, '')}.${small.type.replace(/^image\//, '').replace('jpeg', 'jpg')}`;
}

/** It is shown with its size, and neither read nor kept: it can have any. */
function tooLarge({ type, size }: File, name: string): ContentBlock {
  const mimeType = type === '' ? 'application/octet-stream' : type;
  return { type: 'resource', resource: { uri: 'local:too-large', mimeType, name, size } };
}
