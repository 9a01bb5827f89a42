import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bounds } from './bounds.ts';
import { changedFiles, gitFiles } from './git-files.ts';
import { walkFiles } from './walk-files.ts';

/** The most changed files that are listed. If more files have changed, the listed files need not be the newest. */
const changedMax = 500;

/** The files of a folder, with paths relative to it. */
export interface Listing {
  files: readonly string[];
  /** New files and files that differ from the last commit, newest first. `files` also contains these files. */
  changed: readonly string[];
  isWhole: boolean;
}

/**
 * Lists a folder: with git if possible, otherwise by walking it. Unreadable folders are left out.
 * @param hidden - Folders that are left out, each with a trailing slash.
 */
export async function listFiles(
  folder: string,
  hidden: readonly string[],
  bounds: Bounds,
  signal: AbortSignal,
): Promise<Listing> {
  const isShown = (path: string) => !hidden.some((each) => path.startsWith(each));
  const [found, changed] = await Promise.all([
    gitFiles(folder, bounds, signal),
    changedFiles(folder, bounds, signal),
  ]);
  if (found === undefined) {
    const { paths, isWhole } = await walkFiles(folder, bounds, signal);
    return { files: paths.filter(isShown), changed: [], isWhole };
  }
  const files = found.paths.filter(isShown);
  const there = new Set(files);
  const all = [...new Set([...found.untracked, ...changed])].filter((path) => there.has(path));
  const newest = await newestFirst(folder, all.slice(0, changedMax));
  return { files, changed: newest, isWhole: found.isWhole };
}

async function newestFirst(folder: string, paths: readonly string[]): Promise<string[]> {
  const timed = await Promise.all(
    paths.map(async (path) => {
      const stat = await lstat(join(folder, path)).catch(() => undefined);
      return { path, at: stat?.mtimeMs ?? 0 };
    }),
  );
  return timed.toSorted((a, b) => b.at - a.at).map(({ path }) => path);
}
