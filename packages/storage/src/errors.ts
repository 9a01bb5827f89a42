import { hideUrlSecrets, LiminalError } from '@liminal/protocol';

/** What a log, a store or the opening of one fails with. */
export type StorageErrorCode =
  | 'SEQ_CONFLICT'
  | 'RUN_ENDED'
  | 'ENVELOPE_MISMATCH'
  | 'LOG_WRITE_FAILED'
  | 'STORE_WRITE_FAILED'
  | 'STORE_READ_FAILED'
  | 'STALE_OWNER'
  | 'REDIS_UNAVAILABLE'
  | 'DATABASE_UNUSABLE'
  | 'DATA_DIR_IN_USE'
  | 'DATA_DIR_UNUSABLE'
  | 'DATA_TOO_NEW';

export class StorageError extends LiminalError {
  declare readonly code: StorageErrorCode;

  /** The message may name a URL as it is, and repeat what a library says: what is secret in it is hidden. */
  constructor(code: StorageErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, hideUrlSecrets(message), options);
  }
}
