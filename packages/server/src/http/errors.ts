import { type ErrorBody, LiminalError, refusals, refusalStatus } from '@liminal/protocol';
import type { RuntimeErrorCode } from '@liminal/runtime';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

/** The codes of errors that only the server itself makes. */
export type ServerErrorCode =
  | 'UNAUTHORIZED'
  | 'HOST_NOT_ALLOWED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'INSECURE_HOST'
  | 'INVALID_BODY'
  | 'INVALID_QUERY'
  | 'INVALID_PATH'
  | 'INVALID_JSON'
  | 'INVALID_CURSOR'
  | 'INVALID_REQUEST'
  | 'REQUEST_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'BODY_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'NOT_FOUND'
  | 'TOO_MANY_CONNECTIONS'
  | 'NOT_READY'
  | 'INTERNAL';

/** Error codes of agents that people can see as the result of a command (seed 000, section Provider Interface). */
type AgentErrorCode =
  | 'SESSION_CREATE_FAILED'
  | 'PROCESS_CRASH'
  | 'INTERRUPT_FAILED'
  | 'PROTOCOL_ERROR'
  | 'UNSUPPORTED_CLI_TYPE'
  | 'TURN_IN_PROGRESS'
  | 'INVALID_OPTION';

type StorageErrorCode =
  | 'LOG_WRITE_FAILED'
  | 'STORE_WRITE_FAILED'
  | 'STORE_READ_FAILED'
  | 'STALE_OWNER'
  | 'REDIS_UNAVAILABLE';

/** The compiler checks that the protocol has a status for each code that people can see. */
refusals satisfies Record<
  RuntimeErrorCode | ServerErrorCode | AgentErrorCode | StorageErrorCode,
  number
>;

/** The codes and messages with which the server replaces Fastify's errors. */
const frameworkCodes = new Map(
  Object.entries<{ code: ServerErrorCode; message: string }>({
    FST_ERR_CTP_INVALID_JSON_BODY: { code: 'INVALID_JSON', message: 'The body is not valid JSON.' },
    FST_ERR_CTP_EMPTY_JSON_BODY: {
      code: 'INVALID_JSON',
      message: 'The body is empty though its content type is application/json.',
    },
    FST_ERR_CTP_BODY_TOO_LARGE: { code: 'BODY_TOO_LARGE', message: 'The body is too large.' },
    FST_ERR_CTP_INVALID_MEDIA_TYPE: {
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'Send JSON as application/json, and a file with its own content type.',
    },
    FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
      code: 'INVALID_REQUEST',
      message: 'The length of the body differs from its Content-Length.',
    },
    FST_STATIC_FORBIDDEN_PATH: { code: 'NOT_FOUND', message: 'The file does not exist.' },
    FST_ERR_BAD_URL: { code: 'INVALID_PATH', message: 'The path is not a valid URL path.' },
  }),
);

/** An error with which the server itself rejects a request. */
export class RequestError extends LiminalError {
  declare readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string) {
    super(code, message);
  }
}

/**
 * Returns the status and body for an error. If the error's message is meant for people, the body contains this message;
 * otherwise it contains a general message without internal details.
 */
export function describeError(error: unknown): { status: number; body: ErrorBody } {
  const status = error instanceof LiminalError ? refusalStatus(error.code) : undefined;
  if (error instanceof LiminalError && status !== undefined) {
    return { status, body: errorBody(error.code, error.message) };
  }
  const known = frameworkCodes.get(codeOf(error)) ?? otherFrameworkRefusal(error);
  if (known) return { status: refusals[known.code], body: errorBody(known.code, known.message) };
  return {
    status: 500,
    body: errorBody('INTERNAL', 'The server failed to handle the request. See its log.'),
  };
}

/** Handles a Fastify error that has a 4xx status and is not in the table. */
function otherFrameworkRefusal(error: unknown) {
  const isRefusal =
    codeOf(error).startsWith('FST_ERR_') &&
    error instanceof Error &&
    'statusCode' in error &&
    Math.trunc(Number(error.statusCode) / 100) === 4;
  if (!isRefusal) return undefined;
  return {
    code: 'INVALID_REQUEST',
    message: 'The request is not supported.',
  } as const;
}

/**
 * The codes of errors of a server that is stopping or not ready. The server logs the cause of these errors only once,
 * not with each request.
 */
const expectedCodes: ReadonlySet<string> = new Set<ServerErrorCode | RuntimeErrorCode>([
  'NOT_READY',
  'SHUTTING_DOWN',
]);

/** Handles errors for Fastify. Sends each error as an `ErrorBody`, and logs unexpected errors. */
export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const { status, body } = describeError(error);
  const wasAborted = request.raw.destroyed && !request.raw.complete;
  const isUnexpected = status >= 500 && !expectedCodes.has(body.error.code);
  if (isUnexpected && !wasAborted) request.log.error({ err: error, req: request }, body.error.code);
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

export function errorBody(code: string, message: string): ErrorBody {
  return { error: { code, message } };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
