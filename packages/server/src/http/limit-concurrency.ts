import type { EventEmitter } from 'node:events';
import { FairSemaphore, othersFirst } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How many responses of one route are made at the same time. */
const atOnce = 4;

/**
 * Hooks for a route whose responses can have megabytes: only a few are made at the same time, other work runs in
 * between, and clients take turns. No response is made for a client that has left, or has not read its earlier
 * responses.
 */
export function limitConcurrency() {
  const slots = new FairSemaphore(atOnce);
  const making = new Set<FastifyReply>();

  async function start(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await slots.acquire(clientKey(request));
    making.add(reply);
  }

  function end(reply: FastifyReply): void {
    if (making.delete(reply)) slots.release();
  }

  return {
    async preHandler(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { raw } = request;
      // Node assigns the socket to a response once all earlier responses were sent.
      if (!reply.raw.socket) await eitherOf([reply.raw, 'socket'], [raw, 'close']);
      await start(request, reply);
      await othersFirst();
      if (!raw.socket.destroyed) return;
      end(reply);
      reply.hijack();
    },
    /** Converts to bytes: a text that waits to be read would take up to three times its length. */
    async onSend(_request: FastifyRequest, reply: FastifyReply, payload: unknown) {
      end(reply);
      return typeof payload === 'string' ? Buffer.from(payload) : payload;
    },
  };
}

/** A browser's id; for programs, which share one token, the address and the user agent. */
function clientKey({ deviceConnection, ip, headers }: FastifyRequest): string {
  return deviceConnection?.deviceId ?? `${ip} ${headers['user-agent']}`;
}

/** Resolves with the first of these events. */
function eitherOf(...events: [EventEmitter, string][]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const [emitter, event] of events) emitter.once(event, resolve);
  return promise;
}
