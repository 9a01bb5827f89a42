import { Emitter } from '../emitter.ts';

/**
 * Aborts all open requests when the connection to the server proves to be dead. Without the aborts, a browser waits
 * several minutes for an answer on a dead connection, and sends new requests over its other dead connections.
 */
export class RequestAborter {
  /** Emitted when a request failed, or has had no answer for some seconds: the connection may be dead. */
  readonly requestTrouble = new Emitter<void>();
  #controller = new AbortController();

  /** Aborts when the requests that have begun up to then must be abandoned. */
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

/** The most HTTP/1.1 connections that browsers open to one server. */
const maxConnections = 6;
/** The time in which an open connection must answer, in ms. */
const probeTimeout = 1_500;

/** Makes the browser close its dead connections: it closes a connection when a request on it is aborted. */
export async function closeSilentConnections(baseUrl: string): Promise<void> {
  const signal = AbortSignal.timeout(probeTimeout);
  const probes = Array.from({ length: maxConnections }, async (_, at) => {
    // Each request has another address, because requests with the same address may wait for each other.
    const response = await fetch(`${baseUrl}/healthz?connection=${at}`, {
      signal,
      cache: 'no-store',
    });
    await response.text();
  });
  await Promise.allSettled(probes);
}
