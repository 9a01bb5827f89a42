/** The one table from codes to HTTP statuses. A code that is missing here is not shown: 500 INTERNAL. */
export const refusals = {
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
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  NOT_FOUND: 404,
  TOO_MANY_CONNECTIONS: 503,
  INTERNAL: 500,

  SESSION_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  TURN_NOT_FOUND: 404,
  APPROVAL_NOT_FOUND: 404,
  PROJECT_ID_REQUIRED: 400,
  PROJECT_DIR_NOT_FOUND: 400,
  PROJECT_DIR_NOT_ALLOWED: 403,
  FILE_NOT_FOUND: 404,
  FILE_NOT_ALLOWED: 403,
  FILE_UNREADABLE: 422,
  BLOB_NOT_FOUND: 404,
  TASK_NOT_FOUND: 404,
  BLOB_TYPE_WRONG: 415,
  CONTENT_NOT_SUPPORTED: 422,
  AGENT_UNAVAILABLE: 503,
  TOO_MANY_SESSIONS: 429,
  QUEUE_FULL: 429,
  MESSAGE_NOT_QUEUED: 409,
  TURN_ID_TAKEN: 409,
  SESSION_ID_TAKEN: 409,
  APPROVAL_ALREADY_ANSWERED: 409,
  NOT_SUPPORTED: 409,
  NOTHING_TO_STEER: 409,
  OWNER_UNREACHABLE: 504,
  SHUTTING_DOWN: 503,

  SESSION_CREATE_FAILED: 502,
  PROCESS_CRASH: 502,
  INTERRUPT_FAILED: 502,
  PROTOCOL_ERROR: 502,
  UNSUPPORTED_CLI_TYPE: 400,
  TURN_IN_PROGRESS: 409,
  TURN_NOT_STORED: 409,
  INVALID_OPTION: 400,

  LOG_WRITE_FAILED: 507,
  STORE_WRITE_FAILED: 507,
  STORE_READ_FAILED: 503,
  STALE_OWNER: 503,
  REDIS_UNAVAILABLE: 503,
} as const;

export type RefusalCode = keyof typeof refusals;

/** The refusals that any request can get: for its form, for its sender, and because something is unavailable. */
export const refusalsOfAny: readonly RefusalCode[] = [
  'UNAUTHORIZED',
  'HOST_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
  'INVALID_BODY',
  'INVALID_QUERY',
  'INVALID_PATH',
  'INVALID_JSON',
  'INVALID_REQUEST',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INTERNAL',
  'STORE_READ_FAILED',
  'REDIS_UNAVAILABLE',
];

/** The HTTP status of a code; undefined if it is not in the table. */
export function refusalStatus(code: string): number | undefined {
  return isRefusal(code) ? refusals[code] : undefined;
}

function isRefusal(code: string): code is RefusalCode {
  return Object.hasOwn(refusals, code);
}
