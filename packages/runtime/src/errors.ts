import { hideUrlSecrets, LiminalError, thrownMessage } from '@liminal/protocol';

/** The codes of the runtime's own errors; ProviderError and StorageError have others. */
export type RuntimeErrorCode =
  | 'SESSION_NOT_FOUND'
  | 'RUN_NOT_FOUND'
  | 'TURN_NOT_FOUND'
  | 'TURN_IN_PROGRESS'
  | 'TURN_TAKEN_BACK'
  | 'CANNOT_REWIND'
  | 'PROJECT_ID_REQUIRED'
  | 'PROJECT_DIR_NOT_FOUND'
  | 'PROJECT_DIR_NOT_ALLOWED'
  | 'FILE_NOT_FOUND'
  | 'FILE_NOT_ALLOWED'
  | 'FILE_UNREADABLE'
  | 'DIFF_UNAVAILABLE'
  | 'BLOB_NOT_FOUND'
  | 'BLOB_TYPE_WRONG'
  | 'BODY_TOO_LARGE'
  | 'CONTENT_NOT_SUPPORTED'
  | 'INVALID_BODY'
  | 'INVALID_OPTION'
  | 'AGENT_UNAVAILABLE'
  | 'TOO_MANY_SESSIONS'
  | 'QUEUE_FULL'
  | 'MESSAGE_NOT_QUEUED'
  | 'TURN_ID_TAKEN'
  | 'SESSION_ID_TAKEN'
  | 'APPROVAL_NOT_FOUND'
  | 'APPROVAL_ALREADY_ANSWERED'
  | 'NOT_SUPPORTED'
  | 'NOTHING_TO_END'
  | 'OWNER_UNREACHABLE'
  | 'STALE_OWNER'
  | 'SHUTTING_DOWN';

export class RuntimeError extends LiminalError {
  declare readonly code: RuntimeErrorCode;

  constructor(code: RuntimeErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

export function turnTakenBack(): RuntimeError {
  const message = 'This turn was taken back: the agent no longer knows it. Choose another turn.';
  return new RuntimeError('TURN_TAKEN_BACK', message);
}

/** The error of a request for a session that is deleted, or is being deleted. */
export function sessionDeleted(sessionId: string): RuntimeError {
  return new RuntimeError('SESSION_NOT_FOUND', `Session ${sessionId} has been deleted.`);
}

/** The error of a request for a session that this server has given up, or is giving up: its next owner must answer. */
export function sessionGivenUp(): RuntimeError {
  return new RuntimeError('STALE_OWNER', 'The session is moving to another server. Try again.');
}

/** The code of any thrown value; `INTERNAL` if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof LiminalError ? error.code : 'INTERNAL';
}

/** The text of any thrown value for the log: the stack for an unexpected error. */
export function errorForLog(error: unknown): string {
  if (error instanceof LiminalError || !(error instanceof Error)) return errorMessage(error);
  return hideUrlSecrets(error.stack ?? error.message);
}

/** The message of any thrown value. Only Liminal's own errors keep the secrets in URLs: a login link needs them. */
export function errorMessage(error: unknown): string {
  if (error instanceof LiminalError) return error.message;
  return hideUrlSecrets(thrownMessage(error));
}
