import type { EventEmitter } from 'node:events';
import { FewAtOnce, othersFirst } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How many answers of one route are made at the same time. */
const AT_ONCE = 4;

/**
 * Hooks for one route whose answers can have megabytes: a few are made at the same time, up to their last byte, and other
 * work runs between them. Clients take turns. No answer is made for a client that has left meanwhile, or has not read the
 * answers before.
 */
export function inTurn() {
  const places = new FewAtOnce(AT_ONCE);
  const making = new Set<FastifyReply>();

  async function begin(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await places.enter(clientOf(request));
    making.add(reply);
  }

  function end(reply: FastifyReply): void {
    if (making.delete(reply)) places.leave();
  }

  return {
    async preHandler(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { raw } = request;
      // Node gives an answer its socket once all answers before have been sent.
      if (!reply.raw.socket) await eitherOf([reply.raw, 'socket'], [raw, 'close']);
      await begin(request, reply);
      await othersFirst();
      if (!raw.socket.destroyed) return;
      end(reply);
      reply.hijack();
    },
    /** Bytes, since a text that waits to be read would take up to three times its length. */
    async onSend(_request: FastifyRequest, reply: FastifyReply, payload: unknown) {
      end(reply);
      return typeof payload === 'string' ? Buffer.from(payload) : payload;
    },
  };
}

/** A browser by its id; programs, which share one token, by their address and the name that each gives itself. */
function clientOf({ deviceConnection, ip, headers }: FastifyRequest): string {
  return deviceConnection?.deviceId ?? `${ip} ${headers['user-agent']}`;
}

/** Resolves with the first of these events. */
function eitherOf(...events: [EventEmitter, string][]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const [emitter, event] of events) emitter.once(event, resolve);
  return promise;
}
