import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readServerFile } from '../data/server-file.ts';
import { connectLines, type LineConnection } from './line-connection.ts';

export interface ConnectOptions {
  dataDir: string;
  /** The configuration file for a server that is started. */
  config: string | undefined;
  /** Liminal's own variables, which may contain the token. A server that this process starts gets these variables. */
  own: NodeJS.ProcessEnv;
  /** The path on the server, with its query. */
  path: string;
}

/** How long a server may take to start, in ms. */
const startTimeoutMs = 60_000;
/** How long to wait for a server that another process is already starting, in ms. */
const otherStartTimeoutMs = 5_000;
/** How long this process waits for another process to restart the server before it starts a server itself, in ms. */
const restartTimeoutMs = 2_000;
/** The exit code for an invalid configuration. With this code, another attempt would also fail. */
const usageError = 2;
const pollMs = 50;
const reconnectPollMs = 500;

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * Connects to the server that runs on the data folder. If no server runs, starts a server that keeps running after this
 * process ends. Rejects with an error that says what to do.
 */
export async function connectToServer(
  options: ConnectOptions,
  onLine: (line: string) => void,
): Promise<LineConnection> {
  return (await tryConnect(options, onLine)) ?? (await startAndConnect(options, onLine));
}

/**
 * Like `connectToServer`, but for use after a server was lost. First waits, because the person who stopped the server
 * may restart it, or may not want a server to run. Starts a server only if the client has sent a message and no other
 * process has started a server.
 */
export async function reconnect(
  options: ConnectOptions,
  onLine: (line: string) => void,
  needed: Promise<void>,
): Promise<LineConnection> {
  let until = Number.POSITIVE_INFINITY;
  const whenNeeded = needed.then(() => (until = Date.now() + restartTimeoutMs));
  while (Date.now() < until) {
    const found = await tryConnect(options, onLine);
    if (found) return found;
    await Promise.race([
      delay(reconnectPollMs),
      ...(until === Number.POSITIVE_INFINITY ? [whenNeeded] : []),
    ]);
  }
  return startAndConnect(options, onLine);
}

async function startAndConnect(
  options: ConnectOptions,
  onLine: (line: string) => void,
): Promise<LineConnection> {
  const log = join(options.dataDir, 'server.log');
  const started = startServer(options, log);
  const until = Date.now() + startTimeoutMs;
  while (Date.now() < Math.min(until, started.endedAt() + otherStartTimeoutMs)) {
    await delay(pollMs);
    const found = await tryConnect(options, onLine);
    if (found) return found;
  }
  throw new Error(`The Liminal server did not start. Its log ${log} ends with: ${lastLine(log)}`);
}

/** Returns undefined if no server runs. */
async function tryConnect(
  { dataDir, own, path }: ConnectOptions,
  onLine: (line: string) => void,
): Promise<LineConnection | undefined> {
  const server = readServerFile(dataDir);
  if (server === undefined) return undefined;
  const token = own['LIMINAL_TOKEN'] || server.token;
  try {
    return await connectLines({ url: server.url, token, path }, onLine);
  } catch (error) {
    if (isNoServer(error)) return undefined;
    throw error;
  }
}

/**
 * Whether the error means that no server runs. A crashed server may have left its record, and another process may have
 * its pid. A server that is about to stop also counts as not running.
 */
const isNoServer = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET');

/** Starts a detached server that writes its output to a log file. */
function startServer({ dataDir, config, own }: ConnectOptions, log: string) {
  const output = openLogFile(dataDir, log);
  const program = join(root, 'packages/cli/bin/liminal.js');
  const file = config === undefined ? [] : ['--config', config];
  const child = spawn(
    join(root, 'node_modules/.bin/node'),
    [program, 'serve', '--no-open', '--data', dataDir, ...file],
    { detached: true, stdio: ['ignore', output, output], env: { ...process.env, ...own } },
  );
  closeSync(output);
  let endedAt = Number.POSITIVE_INFINITY;
  const hasEnded = (code: unknown) => (endedAt = code === usageError ? 0 : Date.now());
  child.once('exit', hasEnded);
  child.once('error', hasEnded);
  child.unref();
  return { endedAt: () => endedAt };
}

function openLogFile(dataDir: string, log: string): number {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return openSync(log, 'a', 0o600);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const what = 'Repair it, or choose another with --data.';
    throw new Error(`The data folder ${dataDir} cannot be used: ${why}. ${what}`, { cause });
  }
}

function lastLine(log: string): string {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  return lines.at(-1) || 'nothing.';
}
