import { LiminalError, thrownMessage } from '@liminal/protocol';

/**
 * The error of a request that the server refused or did not answer. `code` is the server's code, `UNREACHABLE` (there
 * was no answer), or `UNEXPECTED_ANSWER` (the answer was not in the server's protocol). `status` is the HTTP status; 0
 * if there was no answer.
 */
export class ApiError extends LiminalError {
  readonly status: number;

  constructor(code: string, status: number, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
    this.status = status;
  }
}

/**
 * The codes of temporary refusals: a service that the server needs is unavailable, or the session is moving to another
 * server.
 */
const temporaryCodes: ReadonlySet<string> = new Set([
  'UNREACHABLE',
  'SHUTTING_DOWN',
  'TOO_MANY_CONNECTIONS',
  'OWNER_UNREACHABLE',
  'STALE_OWNER',
  'REDIS_UNAVAILABLE',
  'STORE_READ_FAILED',
]);

/** Whether the same request may succeed if it is sent again later. */
export function isTemporary(code: string): boolean {
  return temporaryCodes.has(code);
}

/** The status codes that a proxy sends while the server behind the proxy is unavailable. */
const gateway: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Whether the request should be sent again when the server is available again, because its content did not cause the
 * failure.
 */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const isLocked = error.status === 401 || error.status === 403;
  return isLocked || gateway.has(error.status) || isTemporary(error.code);
}

/** Returns a code and a message for people, for any thrown value. */
export function describeError(error: unknown): { code: string; message: string } {
  if (error instanceof LiminalError) return { code: error.code, message: error.message };
  return { code: 'UNKNOWN', message: thrownMessage(error) };
}
