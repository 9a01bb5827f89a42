import { hideUrlSecrets, LiminalError } from '@liminal/protocol';

/** The errors of a log or a store, or of opening one. */
export type StorageErrorCode =
  | 'SEQ_CONFLICT'
  | 'RUN_ENDED'
  | 'ENVELOPE_MISMATCH'
  | 'LOG_WRITE_FAILED'
  | 'STORE_WRITE_FAILED'
  | 'STORE_READ_FAILED'
  | 'STALE_OWNER'
  | 'SESSION_NOT_FOUND'
  | 'REDIS_UNAVAILABLE'
  | 'DATABASE_UNUSABLE'
  | 'DATA_DIR_IN_USE'
  | 'DATA_DIR_UNUSABLE'
  | 'DATA_TOO_NEW';

export class StorageError extends LiminalError {
  declare readonly code: StorageErrorCode;

  /** Hides secrets of URLs in the message, which may also repeat a library's message. */
  constructor(code: StorageErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, hideUrlSecrets(message), options);
  }
}
