/** The bytes of blobs: their hash, and the parts in which they are read and written. */
import { webcrypto } from 'node:crypto';

/** The number of bytes in one part. Writing or reading a part takes the server's one thread a few milliseconds. */
export const partSize = 512 * 1024;

/**
 * Returns the hash of bytes: SHA-256, 64 lower-case hexadecimal digits. Computes the hash outside the server's one
 * thread.
 */
export async function blobHash(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

/** Splits the bytes into views (not copies) of the same size; the last view may be shorter. */
export function* splitBytes(bytes: Uint8Array, size = partSize): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

/** The joined parts, or undefined if the hash of the joined bytes is not `hash`. */
export async function joinParts(
  hash: string,
  parts: readonly Uint8Array[],
): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return (await blobHash(bytes)) === hash ? bytes : undefined;
}
