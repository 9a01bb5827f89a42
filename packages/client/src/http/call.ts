import { ErrorBody } from '@liminal/protocol';
import { ApiError } from './api-error.ts';

export interface HttpOptions {
  /** Where the server is, without a trailing slash; empty for the page's own origin. */
  baseUrl: string;
  /** Sent as a bearer token; browsers are signed in by cookie and need none. */
  token?: string | undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Starting an agent can take seconds; nothing honest takes longer than this (ms). */
const patience = 60_000;

/** One request; gives the parsed JSON, or undefined for an empty body. Throws `ApiError`. */
export async function call(
  options: HttpOptions,
  method: Method,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await reach(options, method, path, body);
  const answer = await readJson(response);
  if (response.ok) return answer;
  const refusal = ErrorBody.safeParse(answer);
  if (!refusal.success) {
    throw new ApiError(
      'UNEXPECTED_ANSWER',
      response.status,
      `The server answered ${response.status} to ${method} ${path}, without saying why.`,
    );
  }
  throw new ApiError(refusal.data.error.code, response.status, refusal.data.error.message);
}

async function reach(
  options: HttpOptions,
  method: Method,
  path: string,
  body: unknown,
): Promise<Response> {
  const headers = new Headers();
  if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  try {
    return await fetch(`${options.baseUrl}${path}`, {
      method,
      headers,
      credentials: 'same-origin',
      signal: AbortSignal.timeout(patience),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
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
