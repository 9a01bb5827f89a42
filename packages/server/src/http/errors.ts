import { type ErrorBody, LiminalError } from '@liminal/protocol';
import type { RuntimeErrorCode } from '@liminal/runtime';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

/** Refusals of the server itself. */
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
  | 'PROJECT_ID_REQUIRED'
  | 'BODY_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'NOT_FOUND'
  | 'TOO_MANY_CONNECTIONS'
  | 'INTERNAL';

/** Codes of agents that reach people through a command (seed 000, section Provider Interface). */
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

/** The one table from codes to HTTP statuses. A code that is not in it is not for people: 500 INTERNAL. */
const statuses = {
  UNAUTHORIZED: 401,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  INSECURE_HOST: 500,
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  INVALID_PATH: 400,
  INVALID_JSON: 400,
  INVALID_CURSOR: 400,
  INVALID_REQUEST: 400,
  PROJECT_ID_REQUIRED: 400,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  NOT_FOUND: 404,
  TOO_MANY_CONNECTIONS: 503,
  INTERNAL: 500,

  SESSION_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  APPROVAL_NOT_FOUND: 404,
  PROJECT_DIR_NOT_FOUND: 400,
  PROJECT_DIR_NOT_ALLOWED: 403,
  FILE_NOT_FOUND: 404,
  FILE_NOT_ALLOWED: 403,
  FILE_UNREADABLE: 422,
  AGENT_UNAVAILABLE: 503,
  TOO_MANY_SESSIONS: 429,
  QUEUE_FULL: 429,
  MESSAGE_NOT_QUEUED: 409,
  TURN_ID_TAKEN: 409,
  APPROVAL_ALREADY_ANSWERED: 409,
  NOT_SUPPORTED: 409,
  OWNER_UNREACHABLE: 504,
  SHUTTING_DOWN: 503,

  SESSION_CREATE_FAILED: 502,
  PROCESS_CRASH: 502,
  INTERRUPT_FAILED: 502,
  PROTOCOL_ERROR: 502,
  UNSUPPORTED_CLI_TYPE: 400,
  TURN_IN_PROGRESS: 409,
  INVALID_OPTION: 400,

  LOG_WRITE_FAILED: 507,
  STORE_WRITE_FAILED: 507,
  STORE_READ_FAILED: 503,
  STALE_OWNER: 503,
  REDIS_UNAVAILABLE: 503,
} satisfies Record<RuntimeErrorCode | ServerErrorCode | AgentErrorCode | StorageErrorCode, number>;

/** What Fastify itself refuses with, in our words. */
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
      message: 'Send the body as application/json.',
    },
    FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
      code: 'INVALID_REQUEST',
      message: 'The body is not as long as its Content-Length says.',
    },
    FST_STATIC_FORBIDDEN_PATH: { code: 'NOT_FOUND', message: 'There is no such file.' },
    FST_ERR_BAD_URL: { code: 'INVALID_PATH', message: 'The path is not a valid URL path.' },
  }),
);

/** A request that the server refuses on its own account. */
export class RequestError extends LiminalError {
  declare readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string) {
    super(code, message);
  }
}

/** What a reader is told of an error: its own words if they are meant for people, else nothing of the inside. */
export function describeError(error: unknown): { status: number; body: ErrorBody } {
  if (error instanceof LiminalError && Object.hasOwn(statuses, error.code)) {
    const status = statuses[error.code as keyof typeof statuses];
    return { status, body: errorBody(error.code, error.message) };
  }
  const known = frameworkCodes.get(codeOf(error)) ?? otherFrameworkRefusal(error);
  if (known) return { status: statuses[known.code], body: errorBody(known.code, known.message) };
  return {
    status: 500,
    body: errorBody('INTERNAL', 'Something went wrong in the server. Its log says what.'),
  };
}

/** What Fastify blames on the request, in a way that is not in the table. */
function otherFrameworkRefusal(error: unknown) {
  const isRefusal =
    codeOf(error).startsWith('FST_ERR_') &&
    error instanceof Error &&
    'statusCode' in error &&
    Math.trunc(Number(error.statusCode) / 100) === 4;
  if (!isRefusal) return undefined;
  return {
    code: 'INVALID_REQUEST',
    message: 'The request is not one that is understood.',
  } as const;
}

/** Fastify's error handler: every refusal is an `ErrorBody`; what is not a refusal is logged. */
export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const { status, body } = describeError(error);
  const hasBrokenOff = request.raw.destroyed && !request.raw.complete;
  if (status >= 500 && !hasBrokenOff) request.log.error({ err: error }, body.error.code);
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

export function errorBody(code: string, message: string): ErrorBody {
  return { error: { code, message } };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
