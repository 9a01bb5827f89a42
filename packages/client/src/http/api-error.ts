import { LiminalError, messageOf } from '@liminal/protocol';

/**
 * A request that the server refused or never answered. `code` is the server's own, or `UNREACHABLE` (no answer) or
 * `UNEXPECTED_ANSWER` (not an answer of this protocol); `status` is the HTTP status, 0 without an answer.
 */
export class ApiError extends LiminalError {
  readonly status: number;

  constructor(code: string, status: number, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
    this.status = status;
  }
}

/** Refusals that pass by themselves: something that the server needs is away for a while, or changes hands. */
const passing: ReadonlySet<string> = new Set([
  'UNREACHABLE',
  'SHUTTING_DOWN',
  'TOO_MANY_CONNECTIONS',
  'OWNER_UNREACHABLE',
  'STALE_OWNER',
  'REDIS_UNAVAILABLE',
  'STORE_READ_FAILED',
]);

/** Whether the same may well be answered in a while. */
export function isPassing(code: string): boolean {
  return passing.has(code);
}

/** Answers of what stands between here and the server while that is away. */
const gateway: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether a request says nothing about what was asked, and is to be made again when the server can be talked to. */
export function isForLater(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const isLocked = error.status === 401 || error.status === 403;
  return isLocked || gateway.has(error.status) || isPassing(error.code);
}

/** What a person can be told of anything that was thrown. */
export function describeError(error: unknown): { code: string; message: string } {
  if (error instanceof LiminalError) return { code: error.code, message: error.message };
  return { code: 'UNKNOWN', message: messageOf(error) };
}
