import { createHash } from 'node:crypto';
import { callKeyOf, type OutputItem } from '@liminal/protocol';

/** A hash of an item's call key (22 characters): ids may be longer than an index takes. */
export function callHashOf(item: OutputItem): string | undefined {
  const key = callKeyOf(item);
  return key === undefined ? undefined : hashOf(key);
}

export function hashOf(callKey: string): string {
  // UTF-16, in which lone surrogates stay apart.
  const bytes = Buffer.from(callKey, 'utf16le');
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}
