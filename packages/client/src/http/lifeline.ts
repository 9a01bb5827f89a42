import { Emitter } from '../emitter.ts';

/**
 * Ends all requests under way once the connection to the server is found dead. A browser itself waits for minutes for
 * an answer on a connection that has gone silent, and sends new requests on such connections that it keeps.
 */
export class Lifeline {
  /** A request has had no answer for some seconds: the connection may be dead. */
  readonly slow = new Emitter<void>();
  #controller = new AbortController();

  /** Aborts when the requests that began by now are to be given up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  cut(): void {
    const { signal } = this.#controller;
    const cut = this.#controller;
    this.#controller = new AbortController();
    if (!signal.aborted) cut.abort(new Error('The connection has gone silent.'));
  }
}

/** The most connections that browsers keep to one server by HTTP/1.1. */
const keptConnections = 6;
/** How long (ms) a kept connection has to answer. */
const answerWithin = 1_500;

/** Makes the browser close those of its kept connections that have gone silent: it closes one whose request is given up. */
export async function closeSilentConnections(baseUrl: string): Promise<void> {
  const signal = AbortSignal.timeout(answerWithin);
  const asked = Array.from({ length: keptConnections }, async (_, at) => {
    // Each with an address of its own: requests for the same one may wait for each other.
    const response = await fetch(`${baseUrl}/healthz?connection=${at}`, {
      signal,
      cache: 'no-store',
    });
    await response.text();
  });
  await Promise.allSettled(asked);
}
