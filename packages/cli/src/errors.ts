/** All errors of the command line. */
import { errorTable, LiminalError } from '@liminal/protocol';
import type { z } from 'zod';

/** Invalid configuration or command line; the message contains the flag, the variable, or the file and the field. */
export class ConfigError extends LiminalError {
  declare readonly code: 'INVALID_CONFIG';
}

const inFile = (path: string, problem: string): string =>
  `The configuration in ${path} is not valid. ${problem}`;
const notSent = (why: string): string => `The spans were not sent. ${why.trim()}`;

const config = {
  INVALID_CONFIG: {
    value: (name: string, problem: string) => `${name} ${problem}.`,
    file: inFile,
    noVariable: (path: string, field: string, found: string) =>
      inFile(
        path,
        `"${field}": "${found}" is not a variable: write \${NAME}. Write $$ for a plain $.`,
      ),
    unsetVariable: (path: string, field: string, name: string) =>
      inFile(
        path,
        `"${field}": the variable ${name} is not set. Set it before Liminal is started.`,
      ),
    nameTaken: (path: string, name: string) =>
      inFile(path, `"${name}" is both in "agents" and in "models". Give one of them another name.`),
    notJson: (path: string, why: string) =>
      `The configuration in ${path} is not valid JSON: ${why}`,
    unreadableFile: (path: string, why: string) =>
      `The configuration file ${path} cannot be read: ${why}.`,
    convexSecret: () =>
      'A Convex deployment requires its LIMINAL_SECRET with each call: set LIMINAL_DATABASE_SECRET to the same value.',
    convexEvents: () =>
      'The configuration has "keepEvents": true, but a Convex deployment keeps no events: use PostgreSQL, or remove "keepEvents".',
    counterpart: (given: string, missing: string) =>
      `${given} also needs ${missing}: servers that share their sessions need a Redis and a database. A single server needs neither a shared Redis nor a shared database.`,
    loneProjector: () =>
      'A projector needs the Redis and the database that servers share: set LIMINAL_REDIS_URL and LIMINAL_DATABASE_URL. A single server needs no projector.',
    loneWorker: () =>
      'A worker for tools gets its calls through the Redis that servers share: set LIMINAL_REDIS_URL and LIMINAL_DATABASE_URL as for the servers. A single server needs no worker.',
    loneServer: () =>
      'The configuration has "tools": { "workers": true }, but workers need a Redis that servers share: set LIMINAL_REDIS_URL and LIMINAL_DATABASE_URL, or remove "workers".',
    token: (path: string) =>
      `${path} does not hold a valid token. Remove the file, and the next start makes a new token.`,
    unknownCommand: (name: string, known: readonly string[]) =>
      `There is no command "${name}". The commands are: ${known.join(', ')}.`,
    unknownAgent: (agent: string, known: readonly string[]) =>
      `There is no agent “${agent}”. The agents are: ${known.join(', ')}.`,
    agentMissing: (known: readonly string[]) =>
      `Name the agent with --agent. The agents are: ${known.join(', ')}.`,
    empty: (what: 'prompt' | 'question') => `The ${what} is empty: write one.`,
    emptyFlag: (flag: string) => `${flag} must not be empty.`,
    profileOfSession: () => '--profile is for a new session: leave out --session.',
    setting: (text: string) =>
      `--set needs an option and its value, for example --set model=opus; not "${text}".`,
    timeout: (text: string) => `--timeout needs a number of seconds, not "${text}".`,
    findTrace: (placeholder: string, address: string) =>
      `--find-trace needs an address with ${placeholder} in it, for example http://localhost:16686/api/traces/${placeholder}; not "${address}".`,
    sendAfterFiles: () =>
      '--send needs a rewound conversation: add --scope conversation, or --scope both.',
    noTerminal: (flags: string) => `There is no terminal to ask for confirmation: use ${flags}.`,
    unreadable: (path: string, why: string) => `"${path}" cannot be read: ${why}`,
    attachMany: (most: number) => `--attach accepts at most ${most} files.`,
    attachTooLarge: (why: string) => `--attach: ${why}`,
    attachMissing: (path: string) => `--attach: the file "${path}" does not exist.`,
    attachUnreadable: (path: string, why: string) => `--attach: "${path}" cannot be read: ${why}`,
    attachNoFile: (path: string) => `--attach: "${path}" is not a file.`,
    attachEmpty: (path: string) => `--attach: "${path}" is empty.`,
    notification: () => 'The argument is neither a session’s id nor a notification from Codex.',
  },
};

const failures = {
  DATA_DIR_IN_USE: {
    runs: (dataDir: string, pid: number, url: string) =>
      `Liminal already runs on the data folder ${dataDir} (process ${pid}): ${url}`,
  },
  DATA_DIR_UNUSABLE: {
    folder: (dataDir: string, why: string) =>
      `The data folder ${dataDir} cannot be used: ${why}. Repair it, or choose another with --data.`,
    notFile: (path: string) => `${path} is not a file. Move it away.`,
    tooLarge: (path: string) => `${path} is larger than 16 MiB. Move it away.`,
  },
  DIRECTORY_NOT_FOUND: {
    notAdded: (folder: string, sessionId: string) =>
      `The session does not have the folder ${folder}. “./liminal directories ${sessionId}” lists its folders.`,
  },
  EXPORT_UNREADABLE: {
    noTurn: () => 'There is nothing to replay: the file has no turn.',
  },
  HISTORY_WRONG: {
    differs: (field: string) =>
      `History does not match the run’s events: “${field}” differs. This is a bug in Liminal: please report it.`,
    late: (seconds: number) =>
      `History did not get the run within ${seconds} s. See the server’s log.`,
    lateInCluster: (seconds: number) =>
      `History did not get the run within ${seconds} s. Check that a projector runs (./liminal projector, or a server without "projector": false), and that it reaches the database.`,
  },
  HOST_UNUSABLE: {
    notOurs: (host: string, code: string) =>
      `The server cannot listen: ${host} is not an address of this machine (${code}).`,
    needsRights: (port: number) =>
      `The server cannot listen: port ${port} needs administrator rights.`,
  },
  NOT_EXPORTED: {
    unwritten: (name: string, why: string) => `${name} was not written: ${why}`,
    endedEarly: () => 'The server ended the export early. See its log.',
  },
  NO_PROJECT_FOLDER: {
    none: (roots: readonly string[], why: string) =>
      `No project folder can be made below the allowed roots (${roots.join(', ')}): ${why}. Make one of them writable, or name another in "roots".`,
  },
  NO_SERVER: {
    none: (dataDir: string) =>
      `No server runs on the data folder ${dataDir}: start it with npm start, which prints a link.`,
  },
  PORT_IN_USE: {
    one: (port: number) =>
      `Another program uses port ${port}. Stop it, or choose another port with --port.`,
    all: (first: number, last: number) =>
      `The ports ${first} to ${last} are all in use. Choose another one with --port.`,
  },
  REFUSED: {
    answered: (url: string, status: number, path: string) =>
      `The server at ${url} answered ${status} to ${path}.`,
  },
  RUN_UNREAD: {
    because: (why: string) => why,
  },
  SESSION_NOT_FOUND: {
    deleted: (sessionId: string) => `Session ${sessionId} was deleted.`,
  },
  STORE_WRITE_FAILED: {
    signOut: (path: string, why: string) =>
      `The sign-out holds only until this process ends: ${path} could not be written (${why}). Free some space, and sign out again.`,
  },
  TRACES_NOT_SENT: {
    noAddress: () =>
      notSent('Set OTEL_EXPORTER_OTLP_ENDPOINT, for example to http://localhost:4318.'),
    badAddress: () => notSent('OTEL_EXPORTER_OTLP_ENDPOINT is not an http:// or https:// address.'),
    badHeaders: () =>
      notSent('OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs, separated by commas.'),
    unreachable: (origin: string, through: string, why: string) =>
      notSent(`${origin} cannot be reached${through}: ${why}`),
    answered: (origin: string, status: number, text: string) =>
      notSent(`${origin} answered ${status}. ${text}`),
    rejected: (origin: string, count: number, why: string) =>
      notSent(`${origin} rejected ${count} of them. ${why}`),
  },
  TRACE_NOT_FOUND: {
    keysRejected: (store: string, status: number) =>
      `${store} answered ${status}: it rejects the keys.`,
    missing: (store: string, traceId: string, seconds: number, status: number) => {
      const last = status === 404 ? '' : `; the last answer was ${status}`;
      return `${store} had no trace ${traceId} after ${seconds} s${last}. Check that the server sends its traces there.`;
    },
    unreachable: (store: string, through: string, why: string) =>
      `${store} cannot be reached${through}: ${why}.`,
  },
  TURN_NOT_FOUND: {
    beyond: (turn: string, count: number) =>
      `There is no turn ${turn}: the session has ${count} ${count === 1 ? 'turn' : 'turns'}.`,
  },
  UNAUTHORIZED: {
    badToken: () => 'The server rejects the token: give the right token with --token.',
  },
};

export const errors = {
  ...errorTable(config, ConfigError),
  ...errorTable(failures, LiminalError),
};

/** The error that the server reported for a session. */
export function reported(problem: { code: string; message: string } | undefined): LiminalError {
  return new LiminalError(problem?.code ?? 'UNKNOWN', problem?.message ?? 'Failed.');
}

/** Lists each wrong field with its problem. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => {
      const problem = describeProblem(issue);
      return issue.path.length === 0 ? problem : `"${issue.path.join('.')}": ${problem}`;
    })
    .join('; ');
}

/** If a key is invalid, the inner issue describes the problem more precisely. */
function describeProblem(issue: z.core.$ZodIssue): string {
  const inner = issue.code === 'invalid_key' ? issue.issues[0] : undefined;
  return inner?.message ?? issue.message;
}
