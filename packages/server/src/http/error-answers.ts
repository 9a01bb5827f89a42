import { type ErrorBody, LiminalError, refusals, refusalStatus } from '@liminal/protocol';
import type { RuntimeErrorCode } from '@liminal/runtime';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errors, type RequestError, type ServerErrorCode } from '../errors.ts';

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

/** The errors with which the server replaces Fastify's errors. */
const errorsOfFastify: ReadonlyMap<string, () => RequestError> = new Map(
  Object.entries({
    FST_ERR_CTP_INVALID_JSON_BODY: errors.INVALID_JSON.invalid,
    FST_ERR_CTP_EMPTY_JSON_BODY: errors.INVALID_JSON.empty,
    FST_ERR_CTP_BODY_TOO_LARGE: errors.BODY_TOO_LARGE.body,
    FST_ERR_CTP_INVALID_MEDIA_TYPE: errors.UNSUPPORTED_MEDIA_TYPE.unknown,
    FST_ERR_CTP_INVALID_CONTENT_LENGTH: errors.INVALID_REQUEST.length,
    FST_STATIC_FORBIDDEN_PATH: errors.NOT_FOUND.file,
    FST_ERR_BAD_URL: errors.INVALID_PATH.notUrl,
  }),
);

/**
 * Returns the status and body for an error. If the error's message is meant for people, the body contains this message;
 * otherwise it contains a general message without internal details.
 */
export function describeError(error: unknown): { status: number; body: ErrorBody } {
  const status = error instanceof LiminalError ? refusalStatus(error.code) : undefined;
  if (error instanceof LiminalError && status !== undefined) {
    return { status, body: errorBody(error) };
  }
  const own = errorOfFastify(error) ?? errors.INTERNAL.failed();
  return { status: refusals[own.code], body: errorBody(own) };
}

function errorOfFastify(error: unknown): RequestError | undefined {
  const code = codeOf(error);
  const make = errorsOfFastify.get(code);
  if (make !== undefined) return make();
  // Fastify has more errors with a status of 4xx than the table above.
  const isRefusal =
    code.startsWith('FST_ERR_') &&
    error instanceof Error &&
    'statusCode' in error &&
    Math.trunc(Number(error.statusCode) / 100) === 4;
  return isRefusal ? errors.INVALID_REQUEST.unsupported() : undefined;
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

export function errorBody({ code, message }: LiminalError): ErrorBody {
  return { error: { code, message } };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
