import {
  escapeHiddenInJson,
  hideUrlSecrets,
  readTraceparent,
  Redactor,
  withinSize,
} from '@liminal/protocol';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';

/**
 * The approximate length of the longest line, in characters. Lines need a limit, because an agent's error may have many
 * millions of characters.
 */
const lineMax = 64 * 1024;
/**
 * The length of the shortest secret that is hidden, in characters: hiding shorter secrets would also hide common words.
 */
const secretMin = 8;
const hidden = '***';
/** Redacts known formats of secrets, by the same rules as exports. */
const rules = new Redactor([]);

/**
 * Returns a log that writes JSON lines without secrets. URLs are logged without their query, since a sign-in link
 * contains the token; headers are not logged; secrets in the URLs of errors are hidden. Terminal controls are escaped,
 * because people may read the lines in a terminal.
 * @param secrets - Known secrets, which are hidden everywhere. The caller may add secrets to the set later.
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
    // The line is cut twice. If the first cut splits a secret, the secret is not recognised, but the second cut, which
    // is shorter, removes it.
    const shown = hideSecrets(hideUrlSecrets(truncateLine(line, 4 * lineMax)), secrets);
    stream.write(escapeHiddenInJson(truncateLine(shown, lineMax)));
  };
  return pino({ level, serializers }, { write });
}

function truncateLine(line: string, length: number): string {
  return line.length <= length ? line : `${JSON.stringify(withinSize(JSON.parse(line), length))}\n`;
}

function hideSecrets(line: string, secrets: ReadonlySet<string>): string {
  let text = line;
  for (const secret of secrets) {
    // The secret as it is escaped in JSON.
    const written = JSON.stringify(secret).slice(1, -1);
    if (secret.length >= secretMin) text = text.replaceAll(written, hidden);
  }
  return rules.text(text);
}
