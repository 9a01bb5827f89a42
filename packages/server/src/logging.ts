import { escapeHiddenInJson, hideUrlSecrets, readTraceparent, Redactor } from '@liminal/protocol';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';

/** A shorter one would hide common words. */
const SECRET_MIN = 8;
const hidden = '***';
/** What is a secret whoever gave it out, by the rules that exports have too. */
const rules = new Redactor([]);

/**
 * A log of JSON lines without secrets: of an address only the path, since a link carries the token, and no headers;
 * secrets in a URL that an error names are hidden. The lines may be read in a terminal: terminal controls are escaped.
 * @param secrets - Known ones, which are hidden wherever they stand. More may be added to the set later.
 */
export function createLogger(
  level: string,
  stream: { write(line: string): void },
  secrets: ReadonlySet<string> = new Set(),
): FastifyBaseLogger {
  const serializers = {
    req: ({ method, url, ip, headers }: FastifyRequest) => {
      const trace = readTraceparent(headers['traceparent']?.toString());
      const path = url.split('?')[0];
      return { method, path, remoteAddress: ip, ...(trace && { traceId: trace.traceId }) };
    },
    res: (reply: FastifyReply) => ({ statusCode: reply.statusCode }),
    err: pino.stdSerializers.err,
  };
  const write = (line: string): void => {
    stream.write(escapeHiddenInJson(hideSecrets(hideUrlSecrets(line), secrets)));
  };
  return pino({ level, serializers }, { write });
}

function hideSecrets(line: string, secrets: ReadonlySet<string>): string {
  let text = line;
  for (const secret of secrets) {
    // As it stands in JSON.
    const written = JSON.stringify(secret).slice(1, -1);
    if (secret.length >= SECRET_MIN) text = text.replaceAll(written, hidden);
  }
  return rules.text(text);
}
