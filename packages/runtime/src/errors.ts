import { hideUrlSecrets, LiminalError, messageOf } from '@liminal/protocol';

/** Codes that the runtime's commands reject with, beside those of ProviderError and StorageError. */
export type RuntimeErrorCode =
  | 'SESSION_NOT_FOUND'
  | 'RUN_NOT_FOUND'
  | 'PROJECT_ID_REQUIRED'
  | 'PROJECT_DIR_NOT_FOUND'
  | 'PROJECT_DIR_NOT_ALLOWED'
  | 'FILE_NOT_FOUND'
  | 'FILE_NOT_ALLOWED'
  | 'FILE_UNREADABLE'
  | 'AGENT_UNAVAILABLE'
  | 'TOO_MANY_SESSIONS'
  | 'QUEUE_FULL'
  | 'MESSAGE_NOT_QUEUED'
  | 'TURN_ID_TAKEN'
  | 'APPROVAL_NOT_FOUND'
  | 'APPROVAL_ALREADY_ANSWERED'
  | 'NOT_SUPPORTED'
  | 'OWNER_UNREACHABLE'
  | 'STALE_OWNER'
  | 'SHUTTING_DOWN';

export class RuntimeError extends LiminalError {
  declare readonly code: RuntimeErrorCode;

  constructor(code: RuntimeErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** The code of anything thrown; `INTERNAL` for what carries none. */
export function errorCode(error: unknown): string {
  return error instanceof LiminalError ? error.code : 'INTERNAL';
}

/** Anything thrown as a log says it: what nobody foresaw, with where it comes from. */
export function errorForLog(error: unknown): string {
  if (error instanceof LiminalError || !(error instanceof Error)) return errorMessage(error);
  return hideUrlSecrets(error.stack ?? error.message);
}

/** The message of anything thrown. Only ours may name a URL with all that is in it, as an agent's does that asks to log in. */
export function errorMessage(error: unknown): string {
  if (error instanceof LiminalError) return error.message;
  return hideUrlSecrets(messageOf(error));
}
