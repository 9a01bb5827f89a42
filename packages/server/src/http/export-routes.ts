import { Readable } from 'node:stream';
import { serverOperations } from '@liminal/protocol';
import { othersFirst, type Runtime } from '@liminal/runtime';
import type { FastifyReply } from 'fastify';
import { RequestError } from './errors.ts';
import { inTurn } from './in-turn.ts';
import { routeOf } from './routes.ts';
import type { App } from './schema.ts';

interface ExportRoutesOptions {
  runtime: Runtime;
  version: string;
  /** The most bytes of a file that is imported. */
  maxBytes: number;
}

/** Sessions as files: neither way is one whole in memory. */
export async function exportRoutes(app: App, { runtime, version, maxBytes }: ExportRoutesOptions) {
  // Each body is a file here, and is read as it comes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));

  app.route({
    ...routeOf(serverOperations.exportSession),
    ...inTurn(),
    handler: async ({ params: { id } }, reply) => {
      return sendExport(reply, await runtime.exportSession(id, { liminal: version }));
    },
  });

  app.route({
    ...routeOf(serverOperations.importSession),
    handler: async ({ body }, reply) => {
      if (!(body instanceof Readable)) {
        throw new RequestError('INVALID_BODY', 'Give the file as the body of the request.');
      }
      const pieces = upTo(maxBytes, body);
      try {
        return await reply.code(201).send(await runtime.importSession(pieces));
      } finally {
        // Otherwise a reading that was given up keeps what is left of the body. It ends with the next piece.
        pieces.return().catch(() => undefined);
      }
    },
  });
}

/** Sends a session's file as it comes. */
export function sendExport(
  reply: FastifyReply,
  file: AsyncIterable<string | Uint8Array>,
): FastifyReply {
  reply.header('content-disposition', 'attachment; filename="session.jsonl"');
  return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(inBytes(file)));
}

/** The bytes of a file, since a text that waits to be read would take up to three times its length; other work runs between them. */
async function* inBytes(file: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of file) {
    yield typeof piece === 'string' ? Buffer.from(piece) : piece;
    await othersFirst();
  }
}

async function* upTo(maxBytes: number, body: Readable): AsyncGenerator<Uint8Array, void> {
  let size = 0;
  for await (const bytes of body.iterator({ destroyOnReturn: false })) {
    size += (bytes as Uint8Array).length;
    if (size > maxBytes) throw new RequestError('BODY_TOO_LARGE', 'The file is too large.');
    yield bytes as Uint8Array;
  }
}
