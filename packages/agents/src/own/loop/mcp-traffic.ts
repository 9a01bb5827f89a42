import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { hideUrlSecrets, LiminalError, thrownMessage } from '@liminal/protocol';
import { refusalOfProxy, throughProxy } from '../proxy/index.ts';
import { boundedAnswer } from './bounded-answer.ts';
import { isSameServer } from './fetch-without-timeout.ts';

/** Limits on the traffic of one MCP server, so that the server cannot fill the memory or block a turn. */
export interface McpLimits {
  /** The time limit for the initialization and the whole list of tools together, in ms. */
  startMs: number;
  /** The time limits for a call, in ms: for the time between two reports of progress, and for the whole call. */
  callMs: number;
  callTotalMs: number;
  /** The largest HTTP message, in bytes. For a line of a program, the SDK has the same limit. */
  messageSize: number;
  /** The most HTTP requests whose responses are not complete. */
  openRequests: number;
  /**
   * How many of these are allowed in each minute: messages of any kind, requests by the server, and event streams that
   * Liminal opens.
   */
  messagesPerMinute: number;
  requestsPerMinute: number;
  streamsPerMinute: number;
  /** The most pages of the list of tools. */
  pages: number;
  /** The most tools that are used, and the largest size of one tool and of all tools, in characters of JSON. */
  tools: number;
  toolSize: number;
  toolsSize: number;
}

export const mcpLimits: McpLimits = {
  startMs: 30_000,
  callMs: 30 * 60_000,
  callTotalMs: 4 * 60 * 60_000,
  messageSize: 10 * 1024 * 1024,
  openRequests: 100,
  messagesPerMinute: 30_000,
  requestsPerMinute: 600,
  streamsPerMinute: 120,
  pages: 50,
  tools: 200,
  toolSize: 128 * 1024,
  toolsSize: 1024 * 1024,
};

/** The error for a server that has exceeded a limit. The message is a sentence that calls the server “It”. */
export class McpExcess extends LiminalError {
  constructor(message: string) {
    super('MCP_EXCESS', message);
  }
}

/** Counts the messages and bytes of one MCP server, and reports the first excess. */
export class McpTraffic {
  readonly #limits: McpLimits;
  readonly #onExcess: (excess: McpExcess) => void;
  readonly #messages: Rate;
  readonly #requests: Rate;
  readonly #streams: Rate;
  #open = 0;
  excess: McpExcess | undefined;

  /** @param onExcess - Must close the connection. */
  constructor(limits: McpLimits, onExcess: (excess: McpExcess) => void) {
    this.#limits = limits;
    this.#onExcess = onExcess;
    this.#messages = new Rate(limits.messagesPerMinute);
    this.#requests = new Rate(limits.requestsPerMinute);
    this.#streams = new Rate(limits.streamsPerMinute);
  }

  /** Counts the messages that a transport receives. Call this method before the transport is connected. */
  watch<T extends Transport>(transport: T): T {
    transport.onmessage = (message: JSONRPCMessage) => {
      const { messagesPerMinute, requestsPerMinute } = this.#limits;
      if (!this.#messages.take()) {
        this.#exceed(`It sent more than ${messagesPerMinute} messages in a minute.`);
      } else if ('method' in message && 'id' in message && !this.#requests.take()) {
        this.#exceed(`It sent more than ${requestsPerMinute} requests in a minute.`);
      }
    };
    return transport;
  }

  /** A `fetch` for a transport, with limits on the size of responses. */
  readonly fetch: FetchLike = async (url, init) => {
    const { openRequests, streamsPerMinute } = this.#limits;
    if (this.#open >= openRequests) {
      throw this.#exceed(`It left ${openRequests} requests without a complete answer.`);
    }
    if (init?.method !== 'POST' && !this.#streams.take()) {
      throw this.#exceed(`It ended more than ${streamsPerMinute} streams in a minute.`);
    }
    this.#open += 1;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.#open -= 1;
      isOpen = false;
    };
    try {
      const response = await fetchWithin(url, init);
      if (response.body !== null) return this.#bounded(response, response.body, close);
      close();
      return response;
    } catch (error) {
      close();
      throw unreachableError(url, error);
    }
  };

  /** @param close - Called when the response is complete or was abandoned. */
  #bounded(response: Response, body: ReadableStream<Uint8Array>, close: () => void): Response {
    const { messageSize: most } = this.#limits;
    const { status, statusText, headers } = response;
    const isEvents = /text\/event-stream/i.test(headers.get('content-type') ?? '');
    const tooLarge = (): McpExcess =>
      this.#exceed(`It sent more than ${most / 1024 / 1024} MiB in one message.`);
    const reader = body.getReader();
    const next = async (): Promise<Uint8Array | undefined> => {
      try {
        const { value } = await reader.read();
        if (value === undefined) close();
        return value;
      } catch (error) {
        close();
        throw error;
      }
    };
    const cancel = (): void => {
      close();
      reader.cancel().catch(() => undefined);
    };
    const bounded = boundedAnswer(next, cancel, { isEvents, most, tooLarge });
    return new Response(bounded, { status, statusText, headers });
  }

  #exceed(message: string): McpExcess {
    if (this.excess === undefined) {
      this.excess = new McpExcess(message);
      this.#onExcess(this.excess);
    }
    return this.excess;
  }
}

/** Limits the number of events in each minute. */
class Rate {
  readonly #most: number;
  #since = 0;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts an event, and returns whether it is allowed. */
  take(): boolean {
    const now = performance.now();
    if (now - this.#since > 60_000) [this.#since, this.#count] = [now, 0];
    this.#count += 1;
    return this.#count <= this.#most;
  }
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 20;

/**
 * Makes a request as `fetch` does, but follows redirects only on the same server, and repeats the request unchanged.
 * Another server would receive the call and the headers with their keys, and may be reachable only from this machine.
 */
async function fetchWithin(asked: string | URL, init?: RequestInit): Promise<Response> {
  let at = new URL(asked);
  for (let count = 0; count <= maxRedirects; count += 1) {
    const response = await fetch(at, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (!redirects.has(response.status) || location === null) return response;
    await response.body?.cancel();
    const to = URL.parse(location, at.href);
    if (to === null) throw new Error('It redirects to an invalid address.');
    if (!isSameServer(at, to)) {
      throw new Error(
        `It redirects to ${to.origin}, which is another server. If that is right, set it as the address ("url").`,
      );
    }
    at = to;
  }
  throw new Error(`It redirects more than ${maxRedirects} times.`);
}

/**
 * Returns an error with the reason why a server could not be reached; `fetch` has the reason only in its error's
 * causes.
 */
function unreachableError(url: string | URL, error: unknown): unknown {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error)) return error;
  const { cause } = error;
  const code =
    'code' in cause && typeof cause.code === 'string' ? cause.code : thrownMessage(cause);
  const why = refusalOfProxy(error) ?? hideUrlSecrets(code);
  const { origin } = new URL(url);
  return new TypeError(`${origin} could not be reached${throughProxy(url)} (${why}).`, { cause });
}
