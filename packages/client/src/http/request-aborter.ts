import { Emitter } from '../emitter.ts';

/**
 * Aborts all open requests when the connection to the server proves to be dead. If they were not aborted, a browser
 * would wait several minutes for an answer on a dead connection, and would send new requests over its other dead
 * connections.
 */
export class RequestAborter {
  /**
   * Emitted when a request has failed, or has had no answer for some seconds, because the connection may then be dead.
   */
  readonly requestTrouble = new Emitter<void>();
  #controller = new AbortController();

  /** Returns a signal that aborts when the requests that have begun so far must be abandoned. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    const { signal } = this.#controller;
    const cut = this.#controller;
    this.#controller = new AbortController();
    if (!signal.aborted) cut.abort(new Error('The connection does not respond.'));
  }
}

/** The largest number of HTTP/1.1 connections that browsers open to one server. */
const maxConnections = 6;
/** The time in which a connection must answer, in ms; otherwise it is dead. */
const probeTimeout = 1_500;

/**
 * Makes the browser close its dead connections, because a browser closes a connection when a request on it is aborted.
 */
export async function closeSilentConnections(baseUrl: string): Promise<void> {
  const signal = AbortSignal.timeout(probeTimeout);
  const probes = Array.from({ length: maxConnections }, async (_, at) => {
    // Each request has a different address, because requests with the same address may wait for each other.
    const response = await fetch(`${baseUrl}/healthz?connection=${at}`, {
      signal,
      cache: 'no-store',
    });
    await response.text();
  });
  await Promise.allSettled(probes);
}
