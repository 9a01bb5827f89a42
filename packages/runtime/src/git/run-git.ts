/**
 * Runs git's reading commands in a folder. A repository may come from a stranger, and its configuration can name
 * programs that git runs. With this function, git runs none of these programs, writes nothing, and fetches nothing.
 * Commands that compare the content of a work tree run filters with any options: see `copyIndex`.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { constants, createWriteStream } from 'node:fs';
import { open, utimes } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The longest list of paths, in bytes. */
const listMax = 32 * 1024 * 1024;
/** The longest path, in bytes: no file system has longer paths. */
const pathMax = 8192;
/** The largest index that is copied, in bytes: about a million files. */
const indexMax = 128 * 1024 * 1024;
/** The most characters of git's error output that are kept. */
const complaintMax = 2_000;

export interface GitOptions {
  signal: AbortSignal;
  /** Additional variables for git. */
  env?: NodeJS.ProcessEnv;
  /** Git's standard input. */
  input?: string | Buffer;
}

/**
 * Runs git, and calls `take` with each zero-terminated part of git's output, until `take` returns false; the last part
 * may lack its zero byte. Resolves with true if all output was read; with false if `take`, the signal or the output's
 * length ended git early; with undefined if git failed.
 */
export async function gitParts(
  folder: string,
  args: readonly string[],
  { signal, env, input }: GitOptions,
  take: (part: Buffer) => boolean,
): Promise<boolean | undefined> {
  if (signal.aborted) return false;
  const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
  const child = spawnGit(folder, args, env, input);
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
    if (left === undefined || left.length > pathMax || size > listMax) return end(false);
    rest = left;
  });
  child.on('close', (code) => {
    if (code === 0 && rest.length > 0) take(rest);
    end(code === 0 ? true : undefined);
  });
  return promise;
}

/**
 * The outcome of a git command: `missing` if git is not installed, `cut` if the signal or a bound ended the command.
 */
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
  const child = spawnGit(folder, args, env, input);
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
    complaint = (complaint + chunk.toString()).slice(0, complaintMax);
  });
  child.on('close', (code) =>
    end(
      code === 0 ? { kind: 'done', output: Buffer.concat(chunks) } : { kind: 'failed', complaint },
    ),
  );
  return promise;
}

function spawnGit(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input: string | Buffer = '',
): ChildProcessByStdio<Writable, Readable, Readable> {
  // Git is not started in the folder: PATH may contain ".", and a program in the folder would then run.
  const child = spawn('git', ['-C', folder, ...safe, ...args], {
    cwd: '/',
    env: { ...environment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Git may end before it has read all of its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return child;
}

/**
 * Calls `take` with each part that a zero byte ends. Returns the remaining bytes, or undefined when no more parts are
 * wanted.
 */
function eachPart(bytes: Buffer, take: (part: Buffer) => boolean): Buffer | undefined {
  let from = 0;
  for (let to = bytes.indexOf(0); to >= 0; to = bytes.indexOf(0, from)) {
    if (!take(bytes.subarray(from, to))) return undefined;
    from = to + 1;
  }
  return bytes.subarray(from);
}

/** Returns the path of the index of the repository that a folder lies in; empty if git does not find one. */
export async function findIndex(folder: string, signal: AbortSignal): Promise<string> {
  const asked = ['rev-parse', '--path-format=absolute', '--git-path', 'index'];
  const answer = await gitOutput(folder, asked, { signal });
  return answer.kind === 'done' ? answer.output.toString().replace(/\n$/, '') : '';
}

/**
 * Copies a repository's index, and sets the copy's time to 0. Git reads files that are newer than the index through
 * filters, which are programs that the repository may name at any moment. Git treats an index with time 0 as newer than
 * all files. Returns the time of the original index, in ms. Rejects if there is no index, or if it is too large.
 */
export async function copyIndex(path: string, to: string, signal: AbortSignal): Promise<number> {
  // With this flag, opening a pipe does not block.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let time: number;
  try {
    const about = await file.stat();
    if (!about.isFile() || about.size > indexMax) throw new Error('no index to compare with');
    time = about.mtimeMs;
    await pipeline(file.createReadStream({ end: indexMax }), createWriteStream(to), { signal });
  } finally {
    await file.close();
  }
  await utimes(to, 0, 0);
  return time;
}

/**
 * Prevents git from running programs that the repository's settings name, such as hooks and programs that watch the
 * work tree.
 */
const safe = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

/**
 * Returns the variables by which git finds its programs and the user's settings, and variables that keep git from
 * writing and fetching.
 */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_CONFIG_HOME } = process.env;
  return {
    PATH,
    HOME,
    XDG_CONFIG_HOME,
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // In a partial clone, git would fetch missing objects with a program that the repository's settings name.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
  };
}
