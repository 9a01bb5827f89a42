import type { FastifyLoggerOptions, FastifyRequest } from 'fastify';

export interface LoggingOptions {
  level: string;
  /** Where lines of JSON go; standard output if absent. */
  stream?: { write(line: string): void } | undefined;
}

/** A log that holds no secret: of an address only the path, since a link carries the token, and no headers at all. */
export function loggerOptions({ level, stream }: LoggingOptions): FastifyLoggerOptions {
  return {
    level,
    ...(stream && { stream }),
    serializers: {
      req: (request: FastifyRequest) => ({
        method: request.method,
        path: request.url.split('?')[0] ?? '',
        remoteAddress: request.ip,
      }),
      res: (reply) => ({ statusCode: reply.statusCode }),
    },
  };
}
