/**
 * The files of a folder in a git work tree, as git sees them. A repository may come from a stranger, and its
 * configuration can name programs that git runs: none of them is run here.
 */
import { spawn } from 'node:child_process';
import type { Bounds, Scan } from './bounds.ts';

/** The longest list of paths, in bytes. */
const LIST_MAX = 32 * 1024 * 1024;
/** The most bytes of one path: no file system has longer ones. */
const PATH_MAX = 8192;

/**
 * The files that git tracks or would track, less those that were deleted. Undefined if git cannot tell: there is no
 * git, the folder is in no work tree, belongs to somebody else, or git ignores it.
 */
export async function gitFiles(
  folder: string,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<(Scan & { untracked: string[] }) | undefined> {
  const paths = new Set<string>();
  const untracked: string[] = [];
  // Git tells those first: they must leave room for the others.
  const untrackedMax = bounds.files / 2;
  let isCut = false;
  const isAll = await git(
    folder,
    ['ls-files', '-z', '-t', '-c', '-o', '-d', '--exclude-standard', '--exclude=node_modules'],
    AbortSignal.any([signal, AbortSignal.timeout(bounds.time)]),
    (line) => {
      const [tag, path] = [line.charAt(0), line.slice(2)];
      if (tag === 'R') paths.delete(path);
      // What a sparse checkout leaves out is not there.
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

/** Tracked files that differ from the last commit; none if git cannot tell in time. */
export async function changedFiles(
  folder: string,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<string[]> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(bounds.changedTime)]);
  const filters = await noFilters(folder, inTime);
  if (filters === undefined) return [];
  const changed: string[] = [];
  const asked = ['--name-only', '-z', '--relative', '--no-renames', '--ignore-submodules=all'];
  const isWhole = await git(
    folder,
    [...filters, 'diff-index', ...asked, 'HEAD'],
    inTime,
    (path) => changed.push(path) < bounds.files,
  );
  return isWhole === undefined ? [] : changed;
}

/**
 * Options without which git, comparing a file, may run the programs that a repository names as its filters. Undefined
 * if there is a filter that no option can name.
 */
async function noFilters(folder: string, signal: AbortSignal): Promise<string[] | undefined> {
  const drivers = new Set<string>();
  const names = ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'];
  const isWhole = await git(folder, names, signal, (key) => {
    drivers.add(key.slice(0, key.lastIndexOf('.')));
    return drivers.size < 100;
  });
  // Without a match, git config fails as it does with an error: then there is none.
  if (isWhole === false || [...drivers].some((driver) => driver.includes('='))) return undefined;
  const off = ['clean=', 'process=', 'required=false'];
  return [...drivers].flatMap((driver) => off.flatMap((each) => ['-c', `${driver}.${each}`]));
}

/**
 * Runs git, and passes its output on, one part at a time, until `take` is false. True if that was all; false if it was
 * ended before, by `take`, the signal or its length; undefined if git failed.
 */
function git(
  folder: string,
  args: readonly string[],
  signal: AbortSignal,
  take: (part: string) => boolean,
): Promise<boolean | undefined> {
  if (signal.aborted) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
  // Not started in the folder: a search path may have "." in it.
  const child = spawn('git', ['-C', folder, ...safe, ...args], {
    cwd: '/',
    env: environment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const end = (outcome: boolean | undefined): void => {
    signal.removeEventListener('abort', stop);
    child.stdout.removeAllListeners('data');
    child.kill('SIGKILL');
    resolve(outcome);
  };
  const stop = (): void => end(false);
  signal.addEventListener('abort', stop);
  child.on('error', () => end(undefined));
  let size = 0;
  let rest: Buffer = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    const left = eachPart(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), take);
    if (left === undefined || left.length > PATH_MAX || size > LIST_MAX) return end(false);
    rest = left;
  });
  child.on('close', (code) => end(code === 0 ? true : undefined));
  return promise;
}

/** Takes the parts that a zero byte ends; gives what is left, or undefined when no more is wanted. */
function eachPart(bytes: Buffer, take: (part: string) => boolean): Buffer | undefined {
  let from = 0;
  for (let to = bytes.indexOf(0); to >= 0; to = bytes.indexOf(0, from)) {
    if (!take(bytes.toString('utf8', from, to))) return undefined;
    from = to + 1;
  }
  return bytes.subarray(from);
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
