import { othersFirst } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A hook for routes whose answers can have megabytes: requests that come together are answered one after the other, with
 * other work between them, and none whose client has left meanwhile.
 */
export async function inTurn({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  await othersFirst();
  if (raw.socket.destroyed) reply.hijack();
}
