import { escapeHiddenInJson, hideUrlSecrets } from '@liminal/protocol';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';

/**
 * A log of JSON lines without secrets: of an address only the path, since a link carries the token, and no headers;
 * secrets in a URL that an error names are hidden. The lines may be read in a terminal: terminal controls are escaped.
 */
export function createLogger(
  level: string,
  stream: { write(line: string): void },
): FastifyBaseLogger {
  const serializers = {
    req: (request: FastifyRequest) => ({
      method: request.method,
      path: request.url.split('?')[0],
      remoteAddress: request.ip,
    }),
    res: (reply: FastifyReply) => ({ statusCode: reply.statusCode }),
    err: pino.stdSerializers.err,
  };
  const write = (line: string): void => stream.write(escapeHiddenInJson(hideUrlSecrets(line)));
  return pino({ level, serializers }, { write });
}
