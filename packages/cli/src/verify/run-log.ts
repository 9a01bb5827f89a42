/**
 * The log from which the check reads: the run's stream in Redis, read with plain commands as any other program would
 * read it, or the server's event stream.
 */
import { type RunMessage, runMessages } from '@liminal/client';
import type { Response } from '@liminal/protocol';
import { openRunEntries } from '@liminal/storage/redis';
import type { SharedConfig } from '../config/shared.ts';
import type { LogEntry } from './run-check.ts';

export interface RunLog {
  /** Display name of the log, for example `XREAD of …`. */
  readonly how: string;
  /** What to do if no events arrive. */
  readonly advice: string;
  /** Resolves as soon as the subscription is active, with the entries until the run ends or `signal` aborts. */
  open(signal: AbortSignal): Promise<AsyncIterable<LogEntry[]>>;
  /** Removes the log of a run whose session was deleted. */
  remove(): Promise<void>;
  close(): void;
}

/** Opens the run's stream in Redis, which is read with plain XREAD. Throws StorageError `REDIS_UNAVAILABLE`. */
export async function redisRunLog(
  { redisUrl, redisPrefix }: SharedConfig,
  runId: string,
): Promise<RunLog> {
  const stream = await openRunEntries({ url: redisUrl, prefix: redisPrefix }, runId);
  return {
    how: `XREAD of ${stream.key}`,
    advice: 'Check that the server has the same LIMINAL_REDIS_URL and redisPrefix as this command.',
    open: async (signal) => logEntries(stream.pages(signal)),
    remove: async () => stream.remove(),
    close: () => stream.close(),
  };
}

async function* logEntries(
  pages: AsyncIterable<Parameters<typeof entryOf>[0][]>,
): AsyncGenerator<LogEntry[]> {
  for await (const page of pages) yield page.map(entryOf);
}

function entryOf({ id, fields }: { id: string; fields: Record<string, string> }): LogEntry {
  if ('settled' in fields) return { kind: 'closed' };
  const { seq, payload, traceContext, ...texts } = fields;
  const read = Object.entries({ seq, payload, traceContext }).map(([name, text]) => [
    name,
    json(text),
  ]);
  const value = { ...texts, ...(Object.fromEntries(read) as Record<string, unknown>) };
  return { kind: 'event', name: `Entry ${id}`, id, value };
}

/** Parses JSON. A text that is not JSON is returned unchanged, and the check then reports it. */
function json(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Returns the server's own event stream of the run. */
export function serverRunLog(server: { url: string; token: string }, runId: string): RunLog {
  const options = { baseUrl: server.url, token: server.token };
  return {
    how: `GET /api/run/${runId}/events`,
    advice: 'See the server’s log.',
    open: async (signal) => {
      const messages = await runMessages(options, runId, { signal, waits: true });
      return eventsOf(messages ?? [], signal);
    },
    remove: async () => {},
    close: () => {},
  };
}

async function* eventsOf(
  messages: AsyncIterable<RunMessage[]> | RunMessage[][],
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  try {
    for await (const page of messages) {
      yield page.map(({ event, data }) => {
        const value = JSON.parse(data) as Record<string, unknown>;
        if (event === 'snapshot') return { kind: 'snapshot', run: value as Response };
        return { kind: 'event', name: `Event ${String(value['seq'])}`, value };
      });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
