import type { EventEmitter } from 'node:events';
import { FairSemaphore, yieldToEventLoop } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The most responses of one route that are made at the same time. */
const atOnce = 4;

/**
 * Hooks for a route with responses of several megabytes. Only a few responses are made at the same time, other work can
 * run between them, and clients take turns. No response is made for a client that has disconnected, or that has not
 * read its earlier responses.
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
 * The key by which clients take turns: a browser's id; for programs, which share one token, their address and user
 * agent.
 */
function clientKey({ deviceConnection, ip, headers }: FastifyRequest): string {
  return deviceConnection?.deviceId ?? `${ip} ${headers['user-agent']}`;
}

/** Resolves when the first of these events happens. */
function eitherOf(...events: [EventEmitter, string][]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const [emitter, event] of events) emitter.once(event, resolve);
  return promise;
}
