import type { EventEmitter } from 'node:events';
import { othersFirst } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How many answers of one route are made at the same time. */
const AT_ONCE = 4;

/**
 * Hooks for one route whose answers can have megabytes: a few are made at the same time, up to their last byte, and other
 * work runs between them. Browsers, and all programs together, take turns. No answer is made for a client that has left
 * meanwhile, or has not read the answers before.
 */
export function inTurn() {
  /** By the browser's id; undefined for programs. The client whose turn is next comes first. */
  const waiting = new Map<string | undefined, (() => void)[]>();
  const making = new Set<FastifyReply>();

  function turn({ deviceConnection }: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const begin = (): void => {
      making.add(reply);
      resolve();
    };
    const client = deviceConnection?.deviceId;
    if (making.size < AT_ONCE) begin();
    else waiting.set(client, [...(waiting.get(client) ?? []), begin]);
    return promise;
  }

  function end(reply: FastifyReply): void {
    if (!making.delete(reply)) return;
    const [client, [begin, ...others] = []] = waiting.entries().next().value ?? [];
    if (begin === undefined) return;
    waiting.delete(client);
    if (others.length > 0) waiting.set(client, others);
    begin();
  }

  return {
    async preHandler(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { raw } = request;
      // Node gives an answer its socket once all answers before have been sent.
      if (!reply.raw.socket) await eitherOf([reply.raw, 'socket'], [raw, 'close']);
      await turn(request, reply);
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

/** Resolves with the first of these events. */
function eitherOf(...events: [EventEmitter, string][]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const [emitter, event] of events) emitter.once(event, resolve);
  return promise;
}
