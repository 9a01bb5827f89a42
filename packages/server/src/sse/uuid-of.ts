import { createHash } from 'node:crypto';
import { z } from 'zod';

const Uuid = z.uuid();
/** docs/protocol.md defines this conversion, so that other programs can compute the same ids. */
const namespace = Buffer.from('598d8923bdcb4fd5802269c0a9b6401b', 'hex');

/**
 * Returns a UUID for an id: the id itself if it is a UUID, otherwise a UUID of version 5 (RFC 9562) of the id's UTF-8
 * bytes.
 */
export function uuidOf(id: string): string {
  if (Uuid.safeParse(id).success) return id;
  const bytes = createHash('sha1').update(namespace).update(id).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const digits = bytes.toString('hex');
  const parts = [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ] as const;
  return parts.map(([from, to]) => digits.slice(from, to)).join('-');
}
