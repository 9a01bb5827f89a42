import { ErrorBody, type Operation } from '@liminal/protocol';
import { ApiError } from './api-error.ts';
import { newId } from '../new-id.ts';
import type { RequestAborter } from './request-aborter.ts';

export interface HttpOptions {
  /** The server's address without a trailing slash; empty for the page's own origin. */
  baseUrl: string;
  /** The bearer token of a program. Browsers need no token, because a cookie and a key sign them in. */
  token?: string | undefined;
  /** Returns the key that sign-in has stored for the page's origin. */
  key?: (() => string | undefined) | undefined;
  /** The span to which the requests belong (W3C trace context), if there is one. */
  traceparent?: string | undefined;
  /** Aborts the requests if the connection proves to be dead; undefined for programs without a live connection. */
  aborter?: RequestAborter | undefined;
}

/** The timeout of a request, in ms. Any request must be answered in this time; starting an agent may take seconds. */
const requestTimeout = 60_000;
/** The timeout of a request with a file, in ms: enough for the largest file over a mobile connection. */
const fileTimeout = 600_000;

/** The time without an answer, in ms, after which the connection may be dead. */
const slowAfter = 3_000;

/**
 * The name of this program. All programs share one token. The server uses the programs' names to let the programs take
 * turns. Browsers send names of their own.
 */
const userAgent = 'document' in globalThis ? undefined : `Liminal ${newId()}`;

/**
 * Sends one request. Returns the parsed JSON, or undefined for an empty body. `signal` cancels the request. Throws
 * `ApiError`.
 */
export async function call(
  options: HttpOptions,
  method: Operation['method'],
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const attempt = async () => {
    const response = await sendRequest(options, path, {
      method,
      signal: withTimeout(requestTimeout, signal),
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    return readAnswer(response, `${method} ${path}`);
  };
  const line = options.aborter?.signal;
  const suspect = setTimeout(() => options.aborter?.requestTrouble.emit(), slowAfter);
  try {
    return await attempt();
  } catch (error) {
    // Only a request that changes nothing is sent again at once, over a new connection.
    if (method !== 'GET' || line?.aborted !== true || signal?.aborted === true) throw error;
    return attempt();
  } finally {
    clearTimeout(suspect);
  }
}

/** Sends a request whose body is a file with the given MIME type. Throws `ApiError`. */
export async function sendFile(
  options: HttpOptions,
  path: string,
  file: Blob,
  { mimeType, signal }: { mimeType: string; signal?: AbortSignal | undefined },
): Promise<unknown> {
  const response = await sendRequest(options, path, {
    method: 'POST',
    signal: withTimeout(fileTimeout, signal),
    body: file,
    headers: { 'content-type': mimeType },
  });
  return readAnswer(response, `POST ${path}`);
}

/** Returns a file, with the type that the server reports. Throws `ApiError`. */
export async function getFile(
  options: HttpOptions,
  path: string,
  signal?: AbortSignal,
): Promise<Blob> {
  const response = await sendRequest(options, path, { signal: withTimeout(fileTimeout, signal) });
  if (!response.ok) throw toApiError(await readJson(response), response.status, `GET ${path}`);
  try {
    return await response.blob();
  } catch (cause) {
    throw unreachable(cause);
  }
}

/** Returns a file as a stream. The caller must cancel the stream or end it by `signal`. Throws `ApiError`. */
export async function streamFile(
  options: HttpOptions,
  path: string,
  signal?: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const response = await sendRequest(options, path, { ...(signal && { signal }) });
  if (response.ok && response.body) return response.body;
  throw toApiError(await readJson(response), response.status, `GET ${path}`);
}

/** Returns the stream of a response; undefined if the response has no content. Throws `ApiError`. */
export async function stream(
  options: HttpOptions,
  path: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | undefined> {
  headers.set('accept', 'text/event-stream');
  const response = await sendRequest(options, path, { headers, signal });
  if (!response.ok) throw toApiError(await readJson(response), response.status, `GET ${path}`);
  return response.status === 204 ? undefined : (response.body ?? undefined);
}

/** Returns the JSON of a response; throws if the server refused the request. */
async function readAnswer(response: Response, request: string): Promise<unknown> {
  const answer = await readJson(response);
  if (response.ok) return answer;
  throw toApiError(answer, response.status, request);
}

function withTimeout(time: number, signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(time);
  return signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
}

function toApiError(answer: unknown, status: number, request: string): ApiError {
  const refusal = ErrorBody.safeParse(answer);
  if (refusal.success) {
    return new ApiError(refusal.data.error.code, status, refusal.data.error.message);
  }
  const message = `The server answered ${status} to ${request} without a reason.`;
  return new ApiError('UNEXPECTED_ANSWER', status, message);
}

async function sendRequest(
  options: HttpOptions,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`);
  if (userAgent !== undefined) headers.set('user-agent', userAgent);
  const key = options.key?.();
  if (key !== undefined) headers.set('x-liminal-key', key);
  if (options.traceparent !== undefined) headers.set('traceparent', options.traceparent);
  const ends = [init.signal, options.aborter?.signal].filter((signal) => signal != null);
  const signal = AbortSignal.any(ends);
  try {
    const url = `${options.baseUrl}${path}`;
    return await fetch(url, { ...init, signal, headers, credentials: 'same-origin' });
  } catch (cause) {
    if (!signal.aborted) options.aborter?.requestTrouble.emit();
    throw unreachable(cause);
  }
}

function unreachable(cause: unknown): ApiError {
  return new ApiError('UNREACHABLE', 0, 'The server did not answer.', { cause });
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw unreachable(cause);
  });
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ApiError(
      'UNEXPECTED_ANSWER',
      response.status,
      `The server answered ${response.status} with something that is not JSON.`,
      { cause },
    );
  }
}
