import type { EventEmitter } from 'node:events';
import { FairSemaphore, yieldToEventLoop } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The maximum number of responses of one route that are made at the same time. */
const atOnce = 4;

/**
 * Returns hooks for a route with responses of several megabytes. Only a few responses are made at the same time, other
 * work can run between them, and clients take turns. If a client has disconnected, or has not read its earlier
 * responses, no response is made for this client.
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
      // Node gives a response its socket only when all earlier responses have been sent.
      if (!reply.raw.socket) await eitherOf([reply.raw, 'socket'], [raw, 'close']);
      await start(request, reply);
      await yieldToEventLoop();
      if (!raw.socket.destroyed) return;
      end(reply);
      reply.hijack();
    },
    /**
     * Converts the response to bytes, because text that waits for the client would take up to three times as much
     * memory.
     */
    async onSend(_request: FastifyRequest, reply: FastifyReply, payload: unknown) {
      end(reply);
      return typeof payload === 'string' ? Buffer.from(payload) : payload;
    },
  };
}

/**
 * Returns the key by which clients take turns. For a browser, this is the browser's id; for a program, its address and
 * user agent, because all programs share one token.
 */
function clientKey({ deviceConnection, ip, headers }: FastifyRequest): string {
  return deviceConnection?.deviceId ?? `${ip} ${headers['user-agent']}`;
}

/** Resolves when the first of these events occurs on these objects. */
function eitherOf(...events: [EventEmitter, string][]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const [emitter, event] of events) emitter.once(event, resolve);
  return promise;
}
