import type { Stats } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, relative, resolve, sep } from 'node:path';
import { contains, HiddenFolders } from '@liminal/agents';
import { errors } from './errors.ts';

const foldersMax = 50;

/**
 * The folders that sessions may work in: the allowed roots and the folders below them, with symbolic links followed.
 */
export class Roots {
  readonly #roots: readonly string[];
  readonly #hidden: HiddenFolders;

  private constructor(roots: readonly string[], hidden: HiddenFolders) {
    this.#roots = roots;
    this.#hidden = hidden;
  }

  /**
   * Reads the roots' real paths; roots that do not exist are skipped.
   */
  static async open(roots: readonly string[], hidden: readonly string[] = []): Promise<Roots> {
    return new Roots(await realPaths(roots), new HiddenFolders(hidden));
  }

  /** Whether a real path is a root, or is below a root. */
  holds(path: string): boolean {
    return this.#roots.some((root) => contains(root, path));
  }

  /** Whether the file at a real path must not be shown. */
  hides(path: string): boolean {
    return this.#hidden.hides(path);
  }

  /**
   * Returns whether the content of a file must not be shown, whatever the file's path: the path may be a hard link to a
   * hidden file.
   */
  async hidesFile(found: Stats): Promise<boolean> {
    return this.#hidden.hasFile(found);
  }

  /** The hidden folders below a real path, relative to that path and with a trailing slash. */
  hiddenBelow(path: string): string[] {
    const below = this.#hidden.paths.filter((folder) => contains(path, folder));
    return below.map((folder) => `${relative(path, folder)}/`);
  }

  /**
   * The real path of a project folder; `~` is the home folder. Throws `PROJECT_DIR_NOT_FOUND`,
   * `PROJECT_DIR_NOT_ALLOWED`.
   */
  async admit(projectDir: string): Promise<string> {
    const path = resolve(expandHome(projectDir));
    // Looks the folder up in a single file system call, because each message waits for this lookup: only a folder has a
    // `.`.
    const real = await realpath(`${path}/.`).catch(() => undefined);
    // A path outside the roots gets the same answer whether or not it exists, so that the answer reveals nothing about
    // it.
    if (!this.holds(real ?? path)) {
      throw errors.PROJECT_DIR_NOT_ALLOWED.outside(projectDir, this.#roots);
    }
    if (this.hides(real ?? path)) {
      throw errors.PROJECT_DIR_NOT_ALLOWED.hidden(projectDir);
    }
    if (real === undefined) {
      throw errors.PROJECT_DIR_NOT_FOUND.missing(projectDir);
    }
    return real;
  }

  /**
   * Returns the real paths of a session's additional folders, without duplicates; relative paths start at the project
   * folder. Throws `PROJECT_DIR_NOT_FOUND`, `PROJECT_DIR_NOT_ALLOWED`.
   */
  async admitAdditional(projectDir: string, folders: readonly string[]): Promise<string[]> {
    const admitted = await Promise.all(
      folders.map(async (each) => this.admit(resolve(projectDir, expandHome(each)))),
    );
    return [...new Set(admitted)].filter((each) => each !== projectDir);
  }

  /** Folders whose path begins with `prefix`; hidden folders only if the prefix's last part begins with a dot. */
  async complete(prefix: string): Promise<{ path: string; name: string }[]> {
    if (prefix.trim() === '')
      return this.#roots.map((path) => ({ path, name: basename(path) || path }));
    const path = expandHome(prefix);
    const cut = path.lastIndexOf(sep) + 1;
    const parent = resolve(path.slice(0, cut));
    const start = path.slice(cut);
    const real = await realpath(parent).catch(() => undefined);
    if (real === undefined || !this.holds(real) || this.hides(real)) return [];
    const entries = await readdir(real, { withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isDirectory() && matches(entry.name, start))
      .filter((entry) => !this.hides(join(real, entry.name)))
      .map((entry) => ({ path: join(parent, entry.name), name: entry.name }))
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .slice(0, foldersMax);
  }
}

async function realPaths(folders: readonly string[]): Promise<string[]> {
  const real = await Promise.all(folders.map((each) => realpath(resolve(each)).catch(() => [])));
  return real.flat();
}

/** Replaces a leading `~` with the home folder, as a shell does. */
function expandHome(path: string): string {
  return path.replace(/^~(?=$|\/)/, homedir());
}

function matches(name: string, start: string): boolean {
  if (name.startsWith('.') && !start.startsWith('.')) return false;
  return name.toLowerCase().startsWith(start.toLowerCase());
}
