/** Checks whether the trace of a run has arrived at a trace store. */
import { setTimeout as delay } from 'node:timers/promises';
import { throughProxy } from '@liminal/agents/proxy';
import { errors } from '../errors.ts';
import type { TelemetryConfig } from '../config/telemetry.ts';
import { isHttpUrl } from '../http-url.ts';
import { fetchErrorReason } from '../send-spans.ts';

/** A service that returns a trace by its id. */
export interface TraceStore {
  /** The store's display name. */
  name: string;
  /** The URL of a trace. */
  address: (traceId: string) => string;
  headers: Record<string, string>;
}

/** The delay between two requests, in ms. */
const againMs = 500;
/** Time limit for one response, in ms. */
const answerMs = 10_000;
const placeholder = '{traceId}';

/**
 * Returns the trace store: the address given with `--find-trace`; without one, Langfuse if the server sends spans to
 * Langfuse. Throws ConfigError.
 */
export function traceStore(
  langfuse: TelemetryConfig['langfuse'],
  address?: string,
): TraceStore | undefined {
  if (address !== undefined) return namedStore(address);
  if (!langfuse) return undefined;
  const { publicKey, secretKey, baseUrl } = langfuse;
  const login = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  return {
    name: `Langfuse at ${new URL(baseUrl).origin}`,
    address: (traceId) => `${baseUrl}/api/public/traces/${traceId}`,
    headers: { authorization: `Basic ${login}` },
  };
}

function namedStore(address: string): TraceStore {
  if (!isHttpUrl(address) || !address.includes(placeholder)) {
    throw errors.INVALID_CONFIG.findTrace(placeholder, address);
  }
  return {
    name: new URL(address).origin,
    address: (traceId) => address.replaceAll(placeholder, traceId),
    headers: {},
  };
}

/**
 * Requests the trace until the trace store has it. After the time limit or another failure, throws LiminalError
 * `TRACE_NOT_FOUND` with the reason.
 */
export async function findTrace(
  store: TraceStore,
  traceId: string,
  { forMs, signal }: { forMs: number; signal: AbortSignal },
): Promise<void> {
  const end = performance.now() + forMs;
  for (;;) {
    const status = await fetchStatus(store, traceId, signal);
    if (status === 200) return;
    if (status === 401 || status === 403) {
      throw errors.TRACE_NOT_FOUND.keysRejected(store.name, status);
    }
    if (performance.now() > end) {
      throw errors.TRACE_NOT_FOUND.missing(store.name, traceId, forMs / 1_000, status);
    }
    await delay(againMs, undefined, { signal });
  }
}

async function fetchStatus(
  store: TraceStore,
  traceId: string,
  signal: AbortSignal,
): Promise<number> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  // A redirect could send the headers to another server.
  const address = store.address(traceId);
  const requestInit = { headers: store.headers, signal: limit, redirect: 'manual' } as const;
  try {
    const response = await fetch(address, requestInit);
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    signal.throwIfAborted();
    throw errors.TRACE_NOT_FOUND.unreachable(
      store.name,
      throughProxy(address),
      fetchErrorReason(error),
    );
  }
}
