import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { contains, type HiddenFolders } from '../../../base/hidden-folders.ts';

/**
 * Judges by a command's words whether the command may show files of a hidden folder. If the hidden folder is in the
 * project, every command may show its files. Otherwise only a command that names the folder, directly or through a
 * link, may do so.
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
  // A path may follow `=` in an option, and `:` in git's name for a file of a revision.
  return words.some((word) =>
    word.split(/[=:]/).some((piece) => {
      const isNamed = piece.split('/').some((part) => names.has(part));
      return isNamed || hiddenFolders.hides(realPath(resolve(root, piece)));
    }),
  );
}

/**
 * Returns whether one of a command's words leads, through a link in the project, to a file outside of the project.
 * Outside of a repository, `git diff` would compare such files.
 */
export function leadsOut(words: readonly string[], projectDir: string): boolean {
  const root = realPath(projectDir);
  const paths = words.filter((word) => !word.startsWith('-'));
  return paths.some((word) => !contains(root, realPath(resolve(root, word))));
}

/** Returns the real path of a file; the given path if the file does not exist. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
