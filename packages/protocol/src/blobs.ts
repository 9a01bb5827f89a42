/** Names of blobs. A blob is a sequence of bytes that is stored outside the log under its hash. */
import { z } from 'zod';
import type { ContentBlock } from './content.ts';

/** The largest size of one blob, in bytes. */
export const blobMax = 20 * 1024 * 1024;
/** The largest total size of one message's attachments, in bytes, because models accept no larger request. */
export const blobsTogetherMax = 30 * 1024 * 1024;

/**
 * Why a file or message is too large, in one sentence; undefined if it is not. Sizes are in bytes.
 *
 * @param what - The subject of the returned sentence, for example a file's name.
 */
export function whyTooLarge(size: number, max: number, what: string): string | undefined {
  if (size <= max) return undefined;
  const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
  return `${what} has ${megabytes(size)} MiB, but the limit is ${megabytes(max)} MiB. Make it smaller, or give its path in the message.`;
}

/** The server's answer to an upload. A content block of a message refers to the blob by `uri`. */
export const UploadedBlob = z.object({
  uri: z.string(),
  mimeType: z.string(),
  /** The size in bytes. */
  size: z.number().int(),
});
export type UploadedBlob = z.infer<typeof UploadedBlob>;

const named = /^blob:(?<hash>[0-9a-f]{64})$/;

/** @param hash - The SHA-256 of the bytes, in lower-case hex. */
export const blobUri = (hash: string): string => `blob:${hash}`;

/** Returns the hash in a blob's URI; undefined for any other URI. */
export function blobHash(uri: string | undefined): string | undefined {
  return uri === undefined ? undefined : named.exec(uri)?.groups?.['hash'];
}

/** The hash of the blob to which a content block refers; undefined if the block refers to no blob. */
export function blobIn(block: ContentBlock): string | undefined {
  return blobHash(block.type === 'resource' ? block.resource.uri : block.uri);
}
