/** The parsed rules of one ignore file. Paths are relative to the file's folder. */
interface FolderRules {
  test(path: string): { ignored: boolean; unignored: boolean };
}

/** The longest ignore file that is read, in bytes. */
export const maxIgnoreFile = 1024 * 1024;

/**
 * The rules of the ignore files (`.gitignore`) of a folder and of the folders below it. Paths are relative to the
 * outermost folder, whose own path is empty. The path of a folder ends with a slash.
 */
export class IgnoreRules {
  readonly #byFolder = new Map<string, FolderRules>();

  add(folder: string, rules: FolderRules): void {
    this.#byFolder.set(folder, rules);
  }

  /** Removes a folder's rules, for example after a walk has left the folder. */
  remove(folder: string): void {
    this.#byFolder.delete(folder);
  }

  /** Whether a path is ignored. Of the rules that match the path, the rules in the nearest folder decide. */
  ignores(path: string): boolean {
    for (let at = path.length - 1; at >= 0;) {
      at = at === 0 ? -1 : path.lastIndexOf('/', at - 1);
      const folder = path.slice(0, at + 1);
      const result = this.#byFolder.get(folder)?.test(path.slice(folder.length));
      if (result?.ignored === true) return true;
      if (result?.unignored === true) return false;
    }
    return false;
  }
}
