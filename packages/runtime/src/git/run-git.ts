/**
 * Runs git's reading commands in a folder. A repository may come from a stranger, and its configuration can name programs
 * that git runs: none of them is run here, nothing is written, and nothing is fetched. Commands that compare a work tree's
 * content run filters whatever their options: see `copyIndex`.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { constants, createWriteStream } from 'node:fs';
import { open, utimes } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The longest list of paths, in bytes. */
const LIST_MAX = 32 * 1024 * 1024;
/** The most bytes of one path: no file system has longer ones. */
const PATH_MAX = 8192;
/** The largest index that is copied, in bytes: about a million files. */
const INDEX_MAX = 128 * 1024 * 1024;
/** How much is kept of what git says about a failure, in bytes. */
const COMPLAINT_MAX = 2_000;

export interface GitOptions {
  signal: AbortSignal;
  /** Variables of git's own, beside `environment()`. */
  env?: NodeJS.ProcessEnv;
  /** What git reads from its standard input. */
  input?: string | Buffer;
}

/**
 * Runs git, and passes on each part of its output that a zero byte ends, and the rest, until `take` is false. True if that
 * was all; false if it was ended before, by `take`, the signal or its length; undefined if git failed.
 */
export async function gitParts(
  folder: string,
  args: readonly string[],
  { signal, env, input }: GitOptions,
  take: (part: Buffer) => boolean,
): Promise<boolean | undefined> {
  if (signal.aborted) return false;
  const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
  const child = start(folder, args, env, input);
  let rest: Buffer = Buffer.alloc(0);
  const end = (outcome: boolean | undefined): void => {
    rest = Buffer.alloc(0);
    signal.removeEventListener('abort', stop);
    child.stdout.removeAllListeners('data');
    child.kill('SIGKILL');
    resolve(outcome);
  };
  const stop = (): void => end(false);
  signal.addEventListener('abort', stop);
  child.on('error', () => end(undefined));
  child.stderr.resume();
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    const left = eachPart(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), take);
    if (left === undefined || left.length > PATH_MAX || size > LIST_MAX) return end(false);
    rest = left;
  });
  child.on('close', (code) => {
    if (code === 0 && rest.length > 0) take(rest);
    end(code === 0 ? true : undefined);
  });
  return promise;
}

/** The outcome of a git command: `missing` if git is not installed, `cut` if the signal or a bound ended the command. */
export type GitAnswer =
  | { kind: 'done'; output: Buffer }
  | { kind: 'failed'; complaint: string }
  | { kind: 'missing' }
  | { kind: 'cut' };

/** Runs git, and returns its whole output of at most `max` bytes. */
export async function gitOutput(
  folder: string,
  args: readonly string[],
  { signal, env, input }: GitOptions,
  max = 1024 * 1024,
): Promise<GitAnswer> {
  if (signal.aborted) return { kind: 'cut' };
  const { promise, resolve } = Promise.withResolvers<GitAnswer>();
  const child = start(folder, args, env, input);
  const chunks: Buffer[] = [];
  let [size, complaint] = [0, ''];
  const end = (answer: GitAnswer): void => {
    signal.removeEventListener('abort', stop);
    child.kill('SIGKILL');
    resolve(answer);
  };
  const stop = (): void => end({ kind: 'cut' });
  signal.addEventListener('abort', stop);
  child.on('error', () => end({ kind: 'missing' }));
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > max) stop();
    else chunks.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(0, COMPLAINT_MAX);
  });
  child.on('close', (code) =>
    end(
      code === 0 ? { kind: 'done', output: Buffer.concat(chunks) } : { kind: 'failed', complaint },
    ),
  );
  return promise;
}

function start(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input: string | Buffer = '',
): ChildProcessByStdio<Writable, Readable, Readable> {
  // Not started in the folder: a search path may have "." in it.
  const child = spawn('git', ['-C', folder, ...safe, ...args], {
    cwd: '/',
    env: { ...environment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Git may end before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return child;
}

/** Takes the parts that a zero byte ends; gives what is left, or undefined when no more is wanted. */
function eachPart(bytes: Buffer, take: (part: Buffer) => boolean): Buffer | undefined {
  let from = 0;
  for (let to = bytes.indexOf(0); to >= 0; to = bytes.indexOf(0, from)) {
    if (!take(bytes.subarray(from, to))) return undefined;
    from = to + 1;
  }
  return bytes.subarray(from);
}

/** The path of the index of the repository that a folder lies in; empty if git cannot tell. */
export async function findIndex(folder: string, signal: AbortSignal): Promise<string> {
  const asked = ['rev-parse', '--path-format=absolute', '--git-path', 'index'];
  const answer = await gitOutput(folder, asked, { signal });
  return answer.kind === 'done' ? answer.output.toString().replace(/\n$/, '') : '';
}

/**
 * Copies a repository's index, and gives the copy no time. Git reads files that are younger than the index, by filters,
 * which are programs that the repository names, and may name at any moment. An index without a time is younger than all.
 * Returns the time of the index itself, in ms. Rejects if there is no index, or a larger one.
 */
export async function copyIndex(path: string, to: string, signal: AbortSignal): Promise<number> {
  // A pipe must not be waited for.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let time: number;
  try {
    const about = await file.stat();
    if (!about.isFile() || about.size > INDEX_MAX) throw new Error('no index to compare with');
    time = about.mtimeMs;
    await pipeline(file.createReadStream({ end: INDEX_MAX }), createWriteStream(to), { signal });
  } finally {
    await file.close();
  }
  await utimes(to, 0, 0);
  return time;
}

/** Runs no program that the repository names for a watched work tree or for an event. */
const safe = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

/** Nothing of the server's own but where git and its user's settings are; git writes nothing and fetches nothing. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_CONFIG_HOME } = process.env;
  return {
    PATH,
    HOME,
    XDG_CONFIG_HOME,
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // A partial clone would fetch what it lacks, by a program that it names.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
  };
}
