/** Where the check reads a run: from Redis as any other program does, else from the server. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, runMessages } from '@liminal/client';
import type { Response } from '@liminal/protocol';
import { openRunEntries } from '@liminal/storage/redis';
import type { SharedConfig } from '../config/shared.ts';
import type { LogEntry } from './run-check.ts';

export interface RunLog {
  /** For people: how it is read. */
  readonly how: string;
  /** What to look at if nothing is there. */
  readonly advice: string;
  /** What comes, until `signal` is aborted or there is no more. Throws if it cannot be read. */
  pages(signal: AbortSignal): AsyncIterable<LogEntry[]>;
  /** Removes what it keeps of a run whose session is deleted. */
  remove(): Promise<void>;
  close(): void;
}

/** The stream in Redis, by plain XREAD. Throws StorageError `REDIS_UNAVAILABLE`. */
export async function redisRunLog(
  { redisUrl, redisPrefix }: SharedConfig,
  runId: string,
): Promise<RunLog> {
  const stream = await openRunEntries({ url: redisUrl, prefix: redisPrefix }, runId);
  return {
    how: `XREAD of ${stream.key}`,
    advice: 'See that the server has the same LIMINAL_REDIS_URL and redisPrefix as this command.',
    pages: async function* (signal) {
      for await (const page of stream.pages(signal)) yield page.map(entryOf);
    },
    remove: async () => stream.remove(),
    close: () => stream.close(),
  };
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

/** A text that is no JSON stays what it is: the check says what is wrong with it. */
function json(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** How soon to look again for a run that has not begun, ms. */
const AGAIN_MS = 10;

/** The server's own stream of the run. */
export function serverRunLog(server: { url: string; token: string }, runId: string): RunLog {
  const options = { baseUrl: server.url, token: server.token };
  return {
    how: `GET /api/run/${runId}/events`,
    advice: 'Look at what the server logs.',
    pages: async function* (signal) {
      try {
        const messages = await whenBegun(
          async () => runMessages(options, runId, { signal }),
          signal,
        );
        for await (const page of messages ?? []) {
          yield page.map(({ event, data }) => {
            const value = JSON.parse(data) as Record<string, unknown>;
            if (event === 'snapshot') return { kind: 'snapshot', run: value as Response };
            return { kind: 'event', name: `Event ${String(value['seq'])}`, value };
          });
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    remove: async () => {},
    close: () => {},
  };
}

async function whenBegun<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'RUN_NOT_FOUND') throw error;
      await delay(AGAIN_MS, undefined, { signal });
    }
  }
}
