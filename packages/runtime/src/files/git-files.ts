/**
 * The files of a folder in a git work tree, according to git. A repository may come from a stranger, and its
 * configuration can name programs that git runs: none of them is run here.
 */
import { spawn } from 'node:child_process';
import { constants, createWriteStream } from 'node:fs';
import { mkdtemp, open, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Bounds, Scan } from './bounds.ts';

/** The longest list of paths, in bytes. */
const LIST_MAX = 32 * 1024 * 1024;
/** The longest path, in bytes: no file system has longer paths. */
const PATH_MAX = 8192;
/** The largest index that is copied, in bytes: about a million files. */
const INDEX_MAX = 128 * 1024 * 1024;

/**
 * The files that git tracks or would track, without deleted files. Undefined if git cannot list them: git is missing,
 * the folder is not in a work tree, belongs to another user, or is ignored.
 */
export async function gitFiles(
  folder: string,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<(Scan & { untracked: string[] }) | undefined> {
  const paths = new Set<string>();
  const untracked: string[] = [];
  // Git lists untracked files first: they must leave room for the others.
  const untrackedMax = bounds.files / 2;
  let isCut = false;
  const isAll = await git(
    folder,
    ['ls-files', '-z', '-t', '-c', '-o', '-d', '--exclude-standard', '--exclude=node_modules'],
    AbortSignal.any([signal, AbortSignal.timeout(bounds.time)]),
    (line) => {
      const [tag, path] = [line.charAt(0), line.slice(2)];
      if (tag === 'R') paths.delete(path);
      // Files that a sparse checkout leaves out do not exist.
      if (tag === 'R' || tag === 'S') return true;
      if (tag === '?' && untracked.length >= untrackedMax) isCut = true;
      else paths.add(path);
      if (tag === '?' && !isCut) untracked.push(path);
      return paths.size < bounds.files;
    },
  );
  if (isAll === undefined || paths.size === 0) return undefined;
  return { paths: [...paths], isWhole: isAll && !isCut, untracked };
}

/**
 * Tracked files that differ from the last commit, by their times and sizes; empty if git is too slow. A change that
 * keeps the size, in the same second in which git last looked at the file, is not found.
 */
export async function changedFiles(
  folder: string,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<string[]> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(bounds.changedTime)]);
  const place = await mkdtemp(join(tmpdir(), 'liminal-index-'));
  try {
    const index = join(place, 'index');
    await copyIndex(folder, index, inTime);
    const changed: string[] = [];
    const asked = ['--name-only', '-z', '--relative', '--no-renames', '--ignore-submodules=all'];
    const isWhole = await git(
      folder,
      ['diff-index', ...asked, 'HEAD'],
      inTime,
      (path) => changed.push(path) < bounds.files,
      { GIT_INDEX_FILE: index },
    );
    return isWhole === undefined ? [] : changed;
  } catch {
    return [];
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/**
 * Copies the repository's index, and sets the copy's time to 0. Git reads files that are newer than the index through
 * filters, which are programs that the repository may name at any moment. Git treats an index with time 0 as newer than
 * all files. Rejects if there is no index, or if it is too large.
 */
async function copyIndex(folder: string, to: string, signal: AbortSignal): Promise<void> {
  let path = '';
  const asked = ['rev-parse', '--path-format=absolute', '--git-path', 'index'];
  await git(folder, asked, signal, (line) => {
    path = line.replace(/\n$/, '');
    return true;
  });
  // Does not block on a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await file.stat();
    if (!about.isFile() || about.size > INDEX_MAX) throw new Error('no index to compare with');
    await pipeline(file.createReadStream({ end: INDEX_MAX }), createWriteStream(to), { signal });
  } finally {
    await file.close();
  }
  await utimes(to, 0, 0);
}

/**
 * Runs git, and calls `take` with each zero-terminated part of its output, until `take` returns false; the last part
 * may lack its zero byte. Resolves to true if that was all; false if git was ended early, by `take`, the signal or the
 * output's length; undefined if git failed.
 */
function git(
  folder: string,
  args: readonly string[],
  signal: AbortSignal,
  take: (part: string) => boolean,
  more: NodeJS.ProcessEnv = {},
): Promise<boolean | undefined> {
  if (signal.aborted) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
  // Not started in the folder: PATH may contain ".".
  const child = spawn('git', ['-C', folder, ...safe, ...args], {
    cwd: '/',
    env: { ...environment(), ...more },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
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
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    const left = eachPart(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), take);
    if (left === undefined || left.length > PATH_MAX || size > LIST_MAX) return end(false);
    rest = left;
  });
  child.on('close', (code) => {
    if (code === 0 && rest.length > 0) take(rest.toString());
    end(code === 0 ? true : undefined);
  });
  return promise;
}

/** Calls `take` with each part that a zero byte ends. Returns the rest, or undefined when no more parts are wanted. */
function eachPart(bytes: Buffer, take: (part: string) => boolean): Buffer | undefined {
  let from = 0;
  for (let to = bytes.indexOf(0); to >= 0; to = bytes.indexOf(0, from)) {
    if (!take(bytes.toString('utf8', from, to))) return undefined;
    from = to + 1;
  }
  return bytes.subarray(from);
}

/** Prevents git from running programs that the repository names for watching the work tree or as hooks. */
const safe = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

/** Only the variables by which git and its user's settings are found; git writes nothing and fetches nothing. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_CONFIG_HOME } = process.env;
  return {
    PATH,
    HOME,
    XDG_CONFIG_HOME,
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // A partial clone would fetch missing objects with a program that the repository names.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
  };
}
