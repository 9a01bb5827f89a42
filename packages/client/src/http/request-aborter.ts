import { Emitter } from '../emitter.ts';

/**
 * Aborts all requests in progress once the connection to the server is found dead. A browser itself waits for minutes
 * for an answer on a silent connection, and sends new requests over silent connections that it keeps open.
 */
export class RequestAborter {
  /** Emitted when a request failed, or has had no answer for some seconds: the connection may be dead. */
  readonly requestTrouble = new Emitter<void>();
  #controller = new AbortController();

  /** Aborts when the requests that have begun until then must be given up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    const { signal } = this.#controller;
    const cut = this.#controller;
    this.#controller = new AbortController();
    if (!signal.aborted) cut.abort(new Error('The connection has gone silent.'));
  }
}

/** The most HTTP/1.1 connections that browsers keep open to one server. */
const maxConnections = 6;
/** The time that a kept connection has to answer, ms. */
const probeTimeout = 1_500;

/** Makes the browser close its silent connections: a browser closes a connection whose request is aborted. */
export async function closeSilentConnections(baseUrl: string): Promise<void> {
  const signal = AbortSignal.timeout(probeTimeout);
  const probes = Array.from({ length: maxConnections }, async (_, at) => {
    // Each with a different address, because requests for the same address may wait for each other.
    const response = await fetch(`${baseUrl}/healthz?connection=${at}`, {
      signal,
      cache: 'no-store',
    });
    await response.text();
  });
  await Promise.allSettled(probes);
}
