import {
  escapeHiddenInJson,
  hideUrlSecrets,
  readTraceparent,
  Redactor,
  withinSize,
} from '@liminal/protocol';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';

/** About the characters of the longest line: what an agent says of an error may be many millions. */
const LINE = 64 * 1024;
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
    // Half of a secret would not be known: so what it is cut in does not stay.
    const shown = hideSecrets(hideUrlSecrets(cut(line, 4 * LINE)), secrets);
    stream.write(escapeHiddenInJson(cut(shown, LINE)));
  };
  return pino({ level, serializers }, { write });
}

function cut(line: string, length: number): string {
  return line.length <= length ? line : `${JSON.stringify(withinSize(JSON.parse(line), length))}\n`;
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
