import { createHash } from 'node:crypto';
import { callKeyOf, type OutputItem } from '@liminal/protocol';

/** Returns a hash of an item's call key (22 characters), because ids may be too long for an index. */
export function callHashOf(item: OutputItem): string | undefined {
  const key = callKeyOf(item);
  return key === undefined ? undefined : callKeyHash(key);
}

export function callKeyHash(callKey: string): string {
  // Hash the text as UTF-16, so that lone surrogates stay distinct.
  const bytes = Buffer.from(callKey, 'utf16le');
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}
