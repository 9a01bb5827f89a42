import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { contains, type HiddenFolders } from '../../../base/hidden-folders.ts';

/**
 * Whether a command may show files of a hidden folder, as far as its words show. If the folder is in the project, every
 * command may; otherwise a command that names the folder, directly or by a link.
 */
export function mayShowHidden(
  words: readonly string[],
  projectDir: string,
  hiddenFolders: HiddenFolders,
): boolean {
  if (hiddenFolders.paths.length === 0) return false;
  const root = realPath(projectDir);
  if (hiddenFolders.hides(root) || hiddenFolders.isBelow(root)) return true;
  const names = new Set(hiddenFolders.paths.map((folder) => basename(folder)));
  // An option has its path after `=`, and git names a file of a revision after `:`.
  return words.some((word) =>
    word.split(/[=:]/).some((piece) => {
      const isNamed = piece.split('/').some((part) => names.has(part));
      return isNamed || hiddenFolders.hides(realPath(resolve(root, piece)));
    }),
  );
}

/**
 * Whether a command names a file outside of the project by a link in the project: outside of a repository, `git diff`
 * compares any two files.
 */
export function leadsOut(words: readonly string[], projectDir: string): boolean {
  const root = realPath(projectDir);
  const paths = words.filter((word) => !word.startsWith('-'));
  return paths.some((word) => !contains(root, realPath(resolve(root, word))));
}

/** The real path; the path itself if it does not exist. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
