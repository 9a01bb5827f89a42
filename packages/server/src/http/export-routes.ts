import { Readable } from 'node:stream';
import { serverOperations } from '@liminal/protocol';
import { yieldToEventLoop, type Runtime } from '@liminal/runtime';
import type { FastifyReply } from 'fastify';
import { errors } from '../errors.ts';
import { limitConcurrency } from './limit-concurrency.ts';
import { routeOf } from './routes.ts';
import type { App } from './schema.ts';

interface ExportRoutesOptions {
  runtime: Runtime;
  version: string;
  /** The size of the largest file that can be imported, in bytes. */
  maxBytes: number;
}

/** Exports and imports sessions as files. Both directions stream, so a file is never completely in memory. */
export async function exportRoutes(app: App, { runtime, version, maxBytes }: ExportRoutesOptions) {
  // Every body of this route is a file, which the route reads as a stream.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));

  app.route({
    ...routeOf(serverOperations.exportSession),
    ...limitConcurrency(),
    handler: async ({ params: { id } }, reply) => {
      return sendExport(reply, await runtime.exportSession(id, { liminal: version }));
    },
  });

  app.route({
    ...routeOf(serverOperations.importSession),
    handler: async ({ body }, reply) => {
      if (!(body instanceof Readable)) {
        throw errors.INVALID_BODY.noFile();
      }
      const pieces = upTo(maxBytes, body);
      try {
        return await reply.code(201).send(await runtime.importSession(pieces));
      } finally {
        // If the import was abandoned, end the iterator when the next part of the body arrives. Otherwise the rest of
        // the body would stay in memory.
        pieces.return().catch(() => undefined);
      }
    },
  });
}

/** Streams a session's file. */
export function sendExport(
  reply: FastifyReply,
  file: AsyncIterable<string | Uint8Array>,
): FastifyReply {
  reply.header('content-disposition', 'attachment; filename="session.jsonl"');
  return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(inBytes(file)));
}

/**
 * Converts the file to bytes, because text that waits for the client would take up to three times as much memory.
 * Between two parts of the file, other work can run.
 */
async function* inBytes(file: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of file) {
    yield typeof piece === 'string' ? Buffer.from(piece) : piece;
    await yieldToEventLoop();
  }
}

async function* upTo(maxBytes: number, body: Readable): AsyncGenerator<Uint8Array, void> {
  let size = 0;
  for await (const bytes of body.iterator({ destroyOnReturn: false })) {
    size += (bytes as Uint8Array).length;
    if (size > maxBytes) throw errors.BODY_TOO_LARGE.file();
    yield bytes as Uint8Array;
  }
}
