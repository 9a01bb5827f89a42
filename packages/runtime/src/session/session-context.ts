import { BlobKeeper } from '../blobs/index.ts';
import { errorCode, errorForLog } from '../errors.ts';
import { Supervisor } from '../turn/index.ts';
import { MessageSpans } from './message-spans.ts';
import type { SessionOptions } from './session-options.ts';
import { SessionRecordHolder } from './session-record.ts';

/** The context that all parts of a session share: its options, its record, and callbacks for changes and errors. */
export interface SessionContext extends Omit<SessionOptions, 'record'> {
  sessionId: string;
  cliType: string;
  record: SessionRecordHolder;
  supervisor: Supervisor;
  blobKeeper: BlobKeeper;
  /** Set only with tracing. */
  messageSpans?: MessageSpans;
  /** Call this function when anything but the conversation has changed. */
  changed: () => void;
  /** Writes a warning to the server's log. */
  warn: (error: unknown, message: string) => void;
  /** ISO 8601 UTC. */
  iso: () => string;
}

interface SessionCallbacks {
  changed: () => void;
  /** Called for an unexpected error: ends the turn and the agent. */
  onFault: (error: unknown, sentence: string) => void;
  /** The ids of the running turn, for the log. */
  turnIds: () => object | undefined;
}

export function sessionContext(
  options: SessionOptions,
  { changed, onFault, turnIds }: SessionCallbacks,
): SessionContext {
  const { record, store, logger, now, tracing } = options;
  const { sessionId, cliType } = record;
  const warn = (error: unknown, message: string): void => {
    const details = { sessionId, ...turnIds(), code: errorCode(error), error: errorForLog(error) };
    logger.warn(details, message);
  };
  const unstored = (error: unknown): void => {
    // Changes to a deleted session cannot be stored, and need not be stored.
    if (errorCode(error) !== 'SESSION_NOT_FOUND') warn(error, 'the session could not be stored');
  };
  return {
    ...options,
    sessionId,
    cliType,
    record: new SessionRecordHolder(record, store, changed, unstored),
    supervisor: new Supervisor(onFault),
    blobKeeper: new BlobKeeper(options.blobs, sessionId),
    ...(tracing && { messageSpans: new MessageSpans(sessionId, tracing, now) }),
    changed,
    warn,
    iso: () => new Date(now()).toISOString(),
  };
}
