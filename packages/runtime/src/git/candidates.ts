/** Finds the files that may differ from the last commit. Git reads no file of the work tree for this. */
import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errors } from '../errors.ts';
import type { Repository } from './repository.ts';
import { copyIndex, gitOutput, gitParts } from './run-git.ts';

export interface Candidate {
  path: string;
  /** True if the file's name is not UTF-8, so that `path` cannot be opened. */
  isOddName: boolean;
  /** The committed entry; undefined for a new file. */
  old?: { mode: string; id: string };
  /** The entry in the work tree according to git; undefined if the file was deleted or git does not know it. */
  mode?: string;
  /** The id of the staged content; set if git considers the file equal to the staged content. */
  staged?: string;
  isUntracked: boolean;
  /** True if git considers the file unchanged, but may be wrong: see `recentFiles`. */
  isRecent?: boolean;
}

/** The number of most recently written files that are compared; all other files count as unchanged. */
const recentMax = 5_000;
/** Files that are examined at the same time. */
const together = 256;
const zeroId = /^0+$/;

/** Returns tracked files first, then files that git would add. */
export async function findCandidates(
  repository: Repository,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const folder = await mkdtemp(join(tmpdir(), 'liminal-index-'));
  try {
    const index = join(folder, 'index');
    const time = await copyIndex(repository.index, index, signal).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw signal.aborted ? errors.DIFF_UNAVAILABLE.slow() : errors.DIFF_UNAVAILABLE.index();
    });
    const env = { GIT_INDEX_FILE: index };
    const [tracked, untracked] = await Promise.all([
      changedByIndex(repository, env, signal),
      untrackedFiles(repository, env, signal),
    ]);
    const known = new Set(tracked.map(({ path }) => path));
    const recent =
      time === undefined ? [] : await recentFiles({ repository, env, signal, time, known });
    return [...tracked, ...recent, ...untracked.filter(({ path }) => !known.has(path))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/**
 * Tracked files whose times, sizes or modes differ from the index, and tracked files whose index entry differs from the
 * commit.
 */
async function changedByIndex(
  { top, base }: Repository,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let about: string[] = [];
  // Only the commit of a submodule is compared: git would run programs that the submodule's settings name.
  const what = ['--ignore-submodules=dirty', '--no-relative'];
  const how = ['--raw', '-z', '--abbrev=64', '--no-renames', '-O/dev/null'];
  const isWhole = await gitParts(
    top,
    ['diff-index', ...how, ...what, base],
    { signal, env },
    (part) => {
      if (about.length === 0) about = part.toString('latin1').slice(1).split(' ');
      else {
        found.push(trackedCandidate(about, part));
        about = [];
      }
      return true;
    },
  );
  if (isWhole === undefined) throw errors.DIFF_UNAVAILABLE.noCommit();
  if (!isWhole)
    throw signal.aborted ? errors.DIFF_UNAVAILABLE.slow() : errors.DIFF_UNAVAILABLE.manyFiles();
  return found;
}

function trackedCandidate(about: readonly string[], name: Buffer): Candidate {
  const [oldMode = '', mode = '', id = '', staged = ''] = about;
  return {
    ...named(name),
    ...(!zeroId.test(oldMode) && { old: { mode: oldMode, id } }),
    ...(!zeroId.test(mode) && { mode }),
    ...(!zeroId.test(staged) && { staged }),
    isUntracked: false,
  };
}

async function untrackedFiles(
  { top }: Repository,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  const asked = ['ls-files', '-o', '-z', '--exclude-standard'];
  await gitParts(top, asked, { signal, env }, (name) => {
    found.push({ ...named(name), isUntracked: true });
    return true;
  });
  if (signal.aborted) throw errors.DIFF_UNAVAILABLE.slow();
  return found;
}

interface RecentFiles {
  repository: Repository;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** The time at which the index was written, in ms. */
  time: number;
  /** Paths that were found before. */
  known: ReadonlySet<string>;
}

/**
 * Returns tracked files that were written in the same second as the index, or later: if such a file changes without
 * changing its size, neither the file's time nor the index shows the change.
 */
async function recentFiles(asked: RecentFiles): Promise<Candidate[]> {
  const { repository, env, signal, time, known } = asked;
  const all: Candidate[] = [];
  await gitParts(repository.top, ['ls-files', '-s', '-z'], { signal, env }, (part) => {
    const tab = part.indexOf('\t');
    const [mode = '', id = '', stage] = part.toString('latin1', 0, tab).split(' ');
    const { path, isOddName } = named(part.subarray(tab + 1));
    const isFile = mode.startsWith('100') && stage === '0' && !isOddName;
    if (isFile && !known.has(path)) {
      all.push({ path, isOddName, old: { mode, id }, mode, isUntracked: false, isRecent: true });
    }
    return true;
  });
  const recent: Candidate[] = [];
  const since = Math.floor(time / 1_000);
  for (let at = 0; at < all.length && recent.length < recentMax; at += together) {
    if (signal.aborted) throw errors.DIFF_UNAVAILABLE.slow();
    const looked = all.slice(at, at + together).map(async (candidate) => {
      const stat = await lstat(join(repository.top, candidate.path)).catch(() => undefined);
      const isRecent = stat !== undefined && Math.floor(stat.mtimeMs / 1_000) >= since;
      return isRecent ? [candidate] : [];
    });
    recent.push(...(await Promise.all(looked)).flat());
  }
  return recent;
}

/** Returns a path in git's form; replacement characters stand for bytes that are not UTF-8. */
function named(name: Buffer): Pick<Candidate, 'path' | 'isOddName'> {
  const path = name.toString();
  return { path, isOddName: !Buffer.from(path).equals(name) };
}

/** Returns the commit that is checked out in a submodule's folder; undefined if there is none. */
export async function submoduleCommit(
  folder: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // The output begins with an empty line if the folder is the top of a work tree. Without the empty line, the folder
  // belongs to the outer work tree.
  const asked = ['rev-parse', '--show-cdup', '--verify', 'HEAD'];
  const answer = await gitOutput(folder, asked, { signal });
  return answer.kind === 'done'
    ? /^\n([0-9a-f]+)\n$/.exec(answer.output.toString())?.[1]
    : undefined;
}
