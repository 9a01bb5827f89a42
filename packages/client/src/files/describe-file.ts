import { type ContentBlock, imageType } from '@liminal/protocol';

export interface DescribedFile {
  name: string;
  /** The file's MIME type if it is known, otherwise an empty text. */
  type: string;
  bytes: Uint8Array;
}

/**
 * Returns a block of a message that refers to the file by `uri`. If the file's name or type does not fit its content,
 * the content decides.
 */
export function describeFile({ name, type, bytes }: DescribedFile, uri: string): ContentBlock {
  const mimeType = typeOf(bytes, type);
  const described = { mimeType, uri, name, size: bytes.length };
  if (mimeType.startsWith('image/')) return { type: 'image', ...described };
  if (mimeType.startsWith('audio/')) return { type: 'audio', ...described };
  return { type: 'resource', resource: described };
}

const unknownType = 'application/octet-stream';

function typeOf(bytes: Uint8Array, given: string): string {
  const seen = imageType(bytes);
  if (seen !== undefined) return seen;
  const [named = ''] = given.toLowerCase().split(';');
  if (String.fromCharCode(...bytes.subarray(0, 5)) === '%PDF-') return 'application/pdf';
  // Browsers report TypeScript files as video. SVG is returned as text, because every agent can read it as text.
  if (isText(bytes)) return named.startsWith('text/') ? named : 'text/plain';
  if (named === '' || named.startsWith('text/') || isReadable.test(named)) return unknownType;
  return named;
}

/**
 * The image types whose first bytes are known. If a file has one of these types but other first bytes, it is not an
 * image.
 */
const isReadable = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon)$/;

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
