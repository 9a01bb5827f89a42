import { webcrypto } from 'node:crypto';

/** The name of bytes: SHA-256, 64 lower-case hexadecimal digits; computed beside the one thread. */
export async function blobHash(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
}
