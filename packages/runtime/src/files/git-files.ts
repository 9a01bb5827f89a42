/**
 * The files of a folder in a git work tree, according to git. A repository may come from a stranger: no program that
 * its configuration names is run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyIndex, findIndex, gitParts } from '../git/index.ts';
import type { Bounds, Scan } from './bounds.ts';

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
  const isAll = await gitParts(
    folder,
    ['ls-files', '-z', '-t', '-c', '-o', '-d', '--exclude-standard', '--exclude=node_modules'],
    { signal: AbortSignal.any([signal, AbortSignal.timeout(bounds.time)]) },
    (part) => {
      const line = part.toString();
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
    await copyIndex(await findIndex(folder, inTime), index, inTime);
    const changed: string[] = [];
    const asked = ['--name-only', '-z', '--relative', '--no-renames', '--ignore-submodules=all'];
    const isWhole = await gitParts(
      folder,
      ['diff-index', ...asked, 'HEAD'],
      { signal: inTime, env: { GIT_INDEX_FILE: index } },
      (path) => changed.push(path.toString()) < bounds.files,
    );
    return isWhole === undefined ? [] : changed;
  } catch {
    return [];
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
