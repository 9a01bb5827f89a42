/** All errors that the runtime itself makes. */
import { errorTable, hideUrlSecrets, LiminalError, thrownMessage } from '@liminal/protocol';

const folder = (what: string): string => `The project folder ${what}.`;

const table = {
  APPROVAL_ALREADY_ANSWERED: {
    answered: () => 'This permission request was already answered, or its turn has ended.',
  },
  APPROVAL_NOT_FOUND: {
    unknown: (approvalId: string) => `This session has no permission request ${approvalId}.`,
  },
  BLOB_NOT_FOUND: {
    ofMessage: () => 'A file of this message is not stored any more. Attach it again.',
    unknown: () => 'The file was not found.',
  },
  BLOB_TYPE_WRONG: {
    asMedia: (mimeType: string, kind: string) =>
      `A file of type ${mimeType} is attached as ${kind}. Attach it as a file (resource).`,
    differs: (mimeType: string, found: string) =>
      `A file has the type ${mimeType}, but is ${found}. Save it again as an image, or attach it as a file.`,
    empty: (what: 'A file' | 'An image') =>
      `${what} of the message has no content: give its bytes in base64, or upload it and name its uri.`,
  },
  BODY_TOO_LARGE: {
    because: (why: string) => why,
  },
  CANNOT_REWIND: {
    notBegunByUser: () => 'This turn was not begun by a user’s message. Choose a turn that was.',
  },
  CONTENT_NOT_SUPPORTED: {
    because: (why: string) => why,
  },
  DIFF_UNAVAILABLE: {
    alternates: () => folder('has a git repository in too many parts'),
    foreign: () => folder('is in a git repository of another user, which git does not read'),
    gitSays: (words: string) => folder(`cannot be compared: git says “${words}”`),
    index: () => folder('has a git index that cannot be read'),
    lineBreak: () => folder('has a name with a line break, or lies in such a folder'),
    links: () => folder('has a git repository of links'),
    manyFiles: () => folder('has too many changed files'),
    noCommit: () => folder('cannot be compared with its last commit by git'),
    noGit: () => folder('cannot be compared: git is not installed on the server'),
    noRepository: () => folder('is not in a git repository'),
    noWorkTree: () => folder('is in no git work tree'),
    oddName: () => folder('has a git repository in a folder of an odd name'),
    outside: () =>
      folder(
        'has its git repository outside the folders that sessions may work in: add the repository’s folder to "roots"',
      ),
    slow: () => folder('cannot be compared: git did not answer in time'),
  },
  EXPORT_UNREADABLE: {
    blob: (hash: string) => `The file cannot be read: the content of blob ${hash} is damaged.`,
    cutOff: () => 'The file is cut off: its end is missing.',
    gzip: () => 'The file cannot be uncompressed: it is damaged, or cut off.',
    notText: () => 'This is not a file made by liminal export: it is not UTF-8 text.',
    tooLarge: (maxGiB: number) => `The file is too large: the limit is ${maxGiB} GiB.`,
  },
  FILE_NOT_ALLOWED: {
    imported: () =>
      'This session was imported from a file: the files of its project are not on this server.',
    outside: (path: string) =>
      `${path} lies outside the project and the folders that sessions may work in, so it is not shown here.`,
  },
  FILE_NOT_FOUND: {
    missing: (path: string) => `There is no file ${path.replaceAll('\0', '␀')}.`,
  },
  FILE_UNREADABLE: {
    folder: (path: string) => `The files of ${path} cannot be listed. Choose a smaller folder.`,
    noContent: (path: string) => `${path} is not a file with content to show.`,
    refused: (path: string) => `${path} cannot be read by the server.`,
  },
  INVALID_BODY: {
    emptyMessage: () => 'The message is empty. To drop it, remove it from the queue.',
  },
  INVALID_OPTION: {
    answer: (offered: string) => `Answer this question with one of ${offered}, and without a note.`,
    directories: (max: number) =>
      `A session can have ${max} additional folders. Remove some first.`,
  },
  MESSAGE_NOT_QUEUED: {
    gone: () => 'This message is no longer queued: it was sent to the agent or removed.',
  },
  NOTHING_TO_END: {
    ended: () => 'The turn has ended by itself.',
    noTurn: () => 'No turn is running.',
    other: (turnId: string) => `The running turn is not ${turnId}, which may have ended by itself.`,
  },
  NOT_SUPPORTED: {
    imported: () =>
      'This session was imported from a file: its agent’s memory is not on this server, so it cannot be continued. Start a new session.',
    list: (cliType: string) => `${cliType} cannot list sessions of its own.`,
  },
  OWNER_UNREACHABLE: {
    silent: (sessionId: string) =>
      `The server that runs session ${sessionId} did not answer. The command may have been run: check before you try again.`,
  },
  PROJECT_DIR_NOT_ALLOWED: {
    hidden: (projectDir: string) =>
      `${projectDir} belongs to Liminal itself, so that sessions cannot work in it. Choose another folder.`,
    outside: (projectDir: string, roots: readonly string[]) =>
      `${projectDir} lies outside the folders that sessions may work in (${roots.join(', ')}). Choose a folder below one of them, or add it to "roots" in the configuration.`,
  },
  PROJECT_DIR_NOT_FOUND: {
    missing: (projectDir: string) =>
      `There is no folder ${projectDir}. Create it, or choose another.`,
  },
  PROJECT_ID_REQUIRED: {
    missing: () => 'The project is missing. Name it: ?projectId=…',
  },
  QUEUE_FULL: {
    long: () =>
      'The queued messages of this session are too long together (more than 1 MiB). Remove one, or wait for a turn to end.',
    many: (max: number) =>
      `This session already has ${max} queued messages. Remove one, or wait for a turn to end.`,
  },
  RUN_NOT_FOUND: {
    unknown: (runId: string) => `There is no run ${runId}.`,
  },
  SESSION_ID_TAKEN: {
    taken: (sessionId: string) => `Session ${sessionId} already exists. Fork with a new id.`,
  },
  SESSION_NOT_FOUND: {
    /** For a session that is deleted, or is being deleted. */
    deleted: (sessionId: string) => `Session ${sessionId} has been deleted.`,
    notHere: (sessionId: string) =>
      `There is no session ${sessionId}. If it is in an agent's own store, load it first.`,
    nowhere: (sessionId: string) =>
      `There is no session ${sessionId}, neither here nor in any agent's own store.`,
    unknown: (sessionId: string) => `There is no session ${sessionId}.`,
  },
  SHUTTING_DOWN: {
    closed: () => 'The server is shutting down.',
    maybeNotStored: () =>
      'The server is stopping and may not have stored your message. If the turn does not show it, send it again.',
    startsNothing: () =>
      'The server is shutting down and starts nothing new. Try again when it is back.',
  },
  STALE_OWNER: {
    /** For a session that this server has given up, or is giving up: the caller must ask the session's next owner. */
    givenUp: () => 'The session is moving to another server. Try again.',
    taken: (sessionId: string) => `Another server has just taken session ${sessionId}. Try again.`,
  },
  TOO_MANY_SESSIONS: {
    open: (count: number) =>
      `${count} sessions are already open. Close a session that you do not need.`,
  },
  TURN_ID_TAKEN: {
    taken: (turnId: string) =>
      `The turn ${turnId} belongs to another session. Send the message with a new id.`,
  },
  TURN_IN_PROGRESS: {
    restart: () => 'The agent must be restarted for this, but is working. Try again later.',
    running: () => 'A turn is running. Wait for its end, or stop it first.',
    toFork: () => 'This turn has not ended. Wait for its end, or fork after an earlier turn.',
  },
  TURN_NOT_FOUND: {
    noneEnded: (sessionId: string) => `Session ${sessionId} does not have a turn that has ended.`,
    notFinished: (sessionId: string, turnId: string) =>
      `Session ${sessionId} has no finished turn ${turnId}.`,
    unknown: (sessionId: string, turnId: string) =>
      `Session ${sessionId} does not have a turn ${turnId}.`,
  },
  TURN_TAKEN_BACK: {
    takenBack: () => 'This turn was taken back: the agent no longer knows it. Choose another turn.',
  },
};

/** Errors between servers, and of editors, which the runtime handles itself. */
const internal = {
  CLIENT_REFUSED: {
    program: (command: string, why: string) => `The editor did not run “${command}”: ${why}`,
    write: (path: string, why: string) => `The editor did not write “${path}”: ${why}`,
  },
  CLIENT_SILENT: {
    write: (path: string, why: string) =>
      `Whether “${path}” was written is not known: the editor did not say (${why}). Read it again.`,
  },
  NOT_OWNER: {
    noLonger: () => 'This server no longer owns the session.',
  },
};

/** The codes of the runtime's own errors. ProviderError and StorageError have their own codes. */
export type RuntimeErrorCode = keyof typeof table;

export class RuntimeError extends LiminalError {
  declare readonly code: RuntimeErrorCode;

  constructor(code: RuntimeErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }

  /** Returns a version of this error for a folder that a session already has; it also advises removing the folder. */
  ofSessionFolder(): RuntimeError {
    const message = `${this.message} Or remove it from the session’s additional folders.`;
    return new RuntimeError(this.code, message, { cause: this });
  }
}

export const errors = {
  ...errorTable(table, RuntimeError),
  ...errorTable(internal, LiminalError),
};

/** An error that another server has reported. */
export function reported({ code, message }: { code: string; message: string }): LiminalError {
  return new LiminalError(code, message);
}

/** Returns the code of any thrown value; `INTERNAL` if it has none. */
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
