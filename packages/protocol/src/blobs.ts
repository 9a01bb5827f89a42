/** The names of blobs: bytes that are kept by their content, outside of the log. */
import { z } from 'zod';
import type { ContentBlock } from './content.ts';

/** The most bytes of one blob. */
export const BLOB_MAX = 20 * 1024 * 1024;
/** The most bytes of one message's attachments: models take no larger request. */
export const BLOBS_TOGETHER_MAX = 30 * 1024 * 1024;

/**
 * Why something is too large, in a sentence; undefined if it is not.
 *
 * @param what - It, as the sentence's subject.
 */
export function whyTooLarge(size: number, max: number, what: string): string | undefined {
  if (size <= max) return undefined;
  const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
  return `${what} has ${megabytes(size)} MiB, and may have ${megabytes(max)}. Make it smaller, or name its path in the message.`;
}

/** The answer to an upload. `uri` is what a content block of a message names it by. */
export const UploadedBlob = z.object({
  uri: z.string(),
  mimeType: z.string(),
  /** In bytes. */
  size: z.number().int(),
});
export type UploadedBlob = z.infer<typeof UploadedBlob>;

const named = /^blob:(?<hash>[0-9a-f]{64})$/;

/** @param hash - The SHA-256 of the bytes, in lower-case hex. */
export const blobUri = (hash: string): string => `blob:${hash}`;

/** The hash in a blob's address; undefined for any other address. */
export function blobHash(uri: string | undefined): string | undefined {
  return uri === undefined ? undefined : named.exec(uri)?.groups?.['hash'];
}

/** The blob that a block names, if it names one. */
export function blobIn(block: ContentBlock): string | undefined {
  return blobHash(block.type === 'resource' ? block.resource.uri : block.uri);
}
