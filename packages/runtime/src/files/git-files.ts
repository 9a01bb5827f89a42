/**
 * The files of a folder in a git work tree, as listed by git. A repository may come from a stranger, so Liminal runs no
 * program that the repository's configuration names.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyIndex, findIndex, gitParts } from '../git/index.ts';
import type { Bounds, Scan } from './bounds.ts';

/**
 * Returns the files that git tracks or would track, without deleted files. Undefined if git cannot list the files:
 * because git is missing, or because the folder is not in a work tree, belongs to another user, or is ignored.
 */
export async function gitFiles(
  folder: string,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<(Scan & { untracked: string[] }) | undefined> {
  const paths = new Set<string>();
  const untracked: string[] = [];
  // Git lists untracked files first: they must leave room for the tracked files.
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
 * Tracked files whose times or sizes show that they differ from the last commit; empty if git is too slow. A change is
 * not found if it keeps the file's size and happens in the same second in which git last looked at the file.
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
