import { serverOperations } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import type { FastifyReply } from 'fastify';
import { errors } from '../errors.ts';
import { limitConcurrency } from './limit-concurrency.ts';
import { routeOf } from './routes.ts';
import type { App } from './schema.ts';

/** Types that a browser can show but not run. A file of any other type is sent as a download. */
const displayableType = /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+)$/;
/** Matches a type that is valid in a header. */
const validType = /^[\w.+-]+\/[\w.+-][\x20-\x7e]*$/;
/** If a browser opens a blob as a page, the blob must not load or run anything. */
const policy = "default-src 'none'; sandbox";

/**
 * Uploads and downloads of messages' files. The files are stored unchanged. A file's name is the hash of its content.
 */
export async function blobRoutes(
  app: App,
  { runtime, maxBytes }: { runtime: Runtime; maxBytes: number },
) {
  // Read every body as bytes, even if it is JSON.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.route({
    ...routeOf(serverOperations.putBlob),
    bodyLimit: maxBytes,
    handler: async (request, reply) => {
      const { body } = request;
      if (!Buffer.isBuffer(body)) {
        throw errors.INVALID_BODY.noTypedFile();
      }
      const { 'content-type': type = '' } = request.headers;
      return reply.code(201).send(await runtime.putBlob(body, type));
    },
  });

  app.route({
    ...routeOf(serverOperations.getBlob),
    ...limitConcurrency(),
    handler: async ({ params: { hash } }, reply) => {
      return sendBlob(reply, await runtime.getBlob(hash));
    },
  });
}

/** Sends a message's file in such a way that a browser cannot run the file. */
export function sendBlob(
  reply: FastifyReply,
  { bytes, mimeType }: { bytes: Uint8Array; mimeType: string },
): FastifyReply {
  reply.header('content-security-policy', policy).header('x-content-type-options', 'nosniff');
  // A blob cannot change: its name is the hash of its content.
  reply.header('cache-control', 'private, max-age=31536000, immutable');
  if (!displayableType.test(mimeType)) reply.header('content-disposition', 'attachment');
  // The stored type may be damaged, or an agent may have invented it.
  const type = validType.test(mimeType) ? mimeType : 'application/octet-stream';
  return reply.type(type).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
