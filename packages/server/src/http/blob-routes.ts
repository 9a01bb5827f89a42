import { serverOperations } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import type { FastifyReply } from 'fastify';
import { RequestError } from './errors.ts';
import { inTurn } from './in-turn.ts';
import { routeOf } from './routes.ts';
import type { App } from './schema.ts';

/** Types that a browser shows in the page, and cannot run; any other file is a download. */
const shown = /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+)$/;
/** A type that a header can have. */
const sendable = /^[\w.+-]+\/[\w.+-][\x20-\x7e]*$/;
/** A blob opened by its address is nothing but itself. */
const policy = "default-src 'none'; sandbox";

/** The files of messages: each is uploaded as it is, and named by its content. */
export async function blobRoutes(
  app: App,
  { runtime, maxBytes }: { runtime: Runtime; maxBytes: number },
) {
  // Each body is bytes here, JSON too.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.route({
    ...routeOf(serverOperations.putBlob),
    bodyLimit: maxBytes,
    handler: async (request, reply) => {
      const { body } = request;
      if (!Buffer.isBuffer(body)) {
        throw new RequestError(
          'INVALID_BODY',
          'Give the file as the body of the request, with its content type.',
        );
      }
      const { 'content-type': type = '' } = request.headers;
      return reply.code(201).send(await runtime.putBlob(body, type));
    },
  });

  app.route({
    ...routeOf(serverOperations.getBlob),
    ...inTurn(),
    handler: async ({ params: { hash } }, reply) => {
      return sendBlob(reply, await runtime.getBlob(hash));
    },
  });
}

/** Sends a file of a message so that a browser cannot run it. */
export function sendBlob(
  reply: FastifyReply,
  { bytes, mimeType }: { bytes: Uint8Array; mimeType: string },
): FastifyReply {
  reply.header('content-security-policy', policy).header('x-content-type-options', 'nosniff');
  // It cannot change: its name is its content.
  reply.header('cache-control', 'private, max-age=31536000, immutable');
  if (!shown.test(mimeType)) reply.header('content-disposition', 'attachment');
  // A damaged type, or one that an agent made up.
  const type = sendable.test(mimeType) ? mimeType : 'application/octet-stream';
  return reply.type(type).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
