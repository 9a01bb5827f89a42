/** All errors of the logs and the stores. */
import { errorTable, hideUrlSecrets, LiminalError, type StreamEvent } from '@liminal/protocol';

const rolledBack = (path: string, why: string): string =>
  `${path} could not be written: ${why}. Nothing was written; it can be tried again.`;

const table = {
  DATABASE_UNUSABLE: {
    convex: (url: string, why: string) =>
      `The Convex deployment ${url} cannot be used: ${why}. Check the URL, and that its functions are deployed.`,
    convexTooOld: (version: number, needed: number) =>
      `The Convex deployment has functions of an older Liminal (version ${version}, this one needs ${needed}). Deploy them again.`,
    postgres: (address: string, why: string) => `The database ${address} cannot be used: ${why}.`,
  },
  DATA_DIR_IN_USE: {
    byServer: (dataDir: string) =>
      `Another Liminal server is using the data folder ${dataDir}. Stop it, or choose another folder with --data.`,
  },
  DATA_DIR_UNUSABLE: {
    folder: (dataDir: string, why: string) =>
      `The data folder ${dataDir} cannot be used: ${why}. Repair it, or choose another with --data.`,
    foreign: (path: string) =>
      `${path} is the database of another program. Move it away, or choose another data folder.`,
    lost: (path: string) =>
      `${path} is missing or empty, and ${path}-wal has the newest data. Restore the database from a backup, or move both away to begin with an empty one.`,
  },
  DATA_TOO_NEW: {
    convex: (version: number, known: number) =>
      `The Convex deployment has functions of a newer Liminal (version ${version}, this one knows ${known}). Update Liminal.`,
    postgres: (schema: string, version: number, known: number) =>
      `The database's schema ${schema} was written by a newer Liminal (data version ${version}, this one knows ${known}). Update Liminal, or choose another database.`,
    sqlite: (path: string, version: number, known: number) =>
      `${path} was written by a newer Liminal (data version ${version}, this one knows ${known}). Update Liminal, or choose another data folder.`,
  },
  ENVELOPE_MISMATCH: {
    foreign: (runId: string, event: StreamEvent) =>
      `Event ${event.eventId} (seq ${event.seq}) of turn ${event.turnId} does not belong to run ${runId}: its session, turn, run, trace context and id must be the run's own.`,
  },
  LOG_WRITE_FAILED: {
    earlierEnd: () => 'The log does not have the end of the previous turn yet.',
    event: (runId: string, why: string) =>
      `An event of run ${runId} cannot be written as JSON: ${why}`,
    redis: (runId: string, why: string) => `Run ${runId} cannot be written: ${why}`,
    rolledBack,
  },
  REDIS_UNAVAILABLE: {
    failed: (why: string, advice: string) => `Redis failed (${why}). ${advice}`,
    noDatabases: (address: string, db: number) =>
      `${address} is a node of a Redis Cluster, which has no database ${db}: leave the number out of the URL. To keep several teams on one cluster apart, set redisPrefix.`,
    severalServers: (address: string) =>
      `The Redis URL names several servers, but ${address} is not a node of a Redis Cluster. Name either a single Redis, or only nodes of one Redis Cluster.`,
  },
  RUN_ENDED: {
    /** For an append to a run that has ended or is settled. */
    ended: (runId: string, event: StreamEvent) =>
      `Run ${runId} has ended: ${event.type} (seq ${event.seq}) cannot follow. Start a new run.`,
  },
  SEQ_CONFLICT: {
    unexpected: (runId: string, event: StreamEvent, expected: number) =>
      `Run ${runId} expects seq ${expected}, not ${event.seq}: another writer has appended to it, or its writer counts wrongly.`,
  },
  SESSION_NOT_FOUND: {
    /** For a save after the session has been deleted. */
    deleted: (sessionId: string) => `Session ${sessionId} has been deleted.`,
  },
  STALE_OWNER: {
    begins: (runId: string) =>
      `Another server has taken the session, so this server must not begin run ${runId}.`,
    saves: (sessionId: string) =>
      `Session ${sessionId} has another owner now. The change of this server was not stored.`,
  },
  STORE_READ_FAILED: {
    blob: (hash: string) =>
      `The file ${hash} cannot be read: its stored data is damaged. Restore the database from a backup.`,
    failed: (what: string, why: string) =>
      `${what} could not be read: ${why}. It can be tried again.`,
    session: (problem: string) => `${problem} It was not changed.`,
  },
  STORE_WRITE_FAILED: {
    events: (runId: string) => `Events of run ${runId} cannot be written as JSON.`,
    failed: (what: string, why: string) =>
      `${what} could not be written: ${why}. It can be tried again.`,
    rolledBack,
    run: (runId: string, why: string) => `Run ${runId} cannot be written as JSON: ${why}`,
  },
};

/** The codes of the errors of a log or a store, or of opening one. */
export type StorageErrorCode = keyof typeof table;

export class StorageError extends LiminalError {
  declare readonly code: StorageErrorCode;

  /** Hides secrets of URLs in the message, which may also repeat a library's message. */
  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(code, hideUrlSecrets(message), options);
  }
}

export const errors = errorTable(table, StorageError);
