import { ErrorBody, type Operation } from '@liminal/protocol';
import { ApiError } from './api-error.ts';

export interface HttpOptions {
  /** Where the server is, without a trailing slash; empty for the page's own origin. */
  baseUrl: string;
  /** Sent as a bearer token; browsers are signed in by cookie and key, and need none. */
  token?: string | undefined;
  /** The key that a browser got at sign-in and keeps for its origin alone. */
  key?: (() => string | undefined) | undefined;
}

/** Request timeout (ms). Starting an agent can take seconds; nothing should take longer than this. */
const patience = 60_000;

/** One request; gives the parsed JSON, or undefined for an empty body. `signal` cancels it. Throws `ApiError`. */
export async function call(
  options: HttpOptions,
  method: Operation['method'],
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const late = AbortSignal.timeout(patience);
  const response = await reach(options, path, {
    method,
    signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  const answer = await readJson(response);
  if (response.ok) return answer;
  throw refusalOf(answer, response.status, `${method} ${path}`);
}

/** A streamed answer, until one side ends it; undefined if it has no content. Throws `ApiError`. */
export async function stream(
  options: HttpOptions,
  path: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | undefined> {
  headers.set('accept', 'text/event-stream');
  const response = await reach(options, path, { headers, signal });
  if (!response.ok) throw refusalOf(await readJson(response), response.status, `GET ${path}`);
  return response.status === 204 ? undefined : (response.body ?? undefined);
}

function refusalOf(answer: unknown, status: number, request: string): ApiError {
  const refusal = ErrorBody.safeParse(answer);
  if (refusal.success) {
    return new ApiError(refusal.data.error.code, status, refusal.data.error.message);
  }
  const message = `The server answered ${status} to ${request}, without saying why.`;
  return new ApiError('UNEXPECTED_ANSWER', status, message);
}

async function reach(options: HttpOptions, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`);
  const key = options.key?.();
  if (key !== undefined) headers.set('x-liminal-key', key);
  try {
    const url = `${options.baseUrl}${path}`;
    return await fetch(url, { ...init, headers, credentials: 'same-origin' });
  } catch (cause) {
    throw new ApiError('UNREACHABLE', 0, 'The server did not answer.', { cause });
  }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
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
