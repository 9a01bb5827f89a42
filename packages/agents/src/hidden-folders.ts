import { type Dirent, realpathSync, type Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

/** The clock of a file system may be behind ours by so much (ms). */
const clockLagMs = 1_000;
/** How many files are looked at together. */
const batch = 100;

/**
 * Folders whose files are never shown or changed: Liminal's own data folder, which holds the token. A file is known by
 * its real path, and by its inode: it may have another name outside of the folder (a hard link).
 */
export class HiddenFolders {
  readonly #folders: readonly string[];
  readonly #real = new Map<string, string>();
  /** The files with several names that the last look found in the folders. */
  #files: Promise<ReadonlySet<string>> = Promise.resolve(new Set());
  /** When the last look began, in ms since 1970. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @param folders - They may not exist yet. */
  constructor(folders: readonly string[] = []) {
    this.#folders = folders.map((folder) => resolve(folder));
  }

  /** Their real paths, as far as they exist. */
  get paths(): string[] {
    return this.#folders.map((folder) => this.#realPath(folder));
  }

  /** Whether a real path is one of the folders, or lies in one. */
  hides(real: string): boolean {
    return this.paths.some((folder) => contains(folder, real));
  }

  /** Whether one of the folders lies in the folder at this real path, or is that folder. */
  isBelow(real: string): boolean {
    return this.paths.some((folder) => contains(real, folder));
  }

  /** Whether a file, wherever it was found, is also a file of one of the folders. */
  async hasFile({ dev, ino, nlink, ctimeMs }: Stats): Promise<boolean> {
    if (nlink < 2 || this.#folders.length === 0) return false;
    // A new name changes the file's `ctime`: a look that began after that has seen all names that the file has now.
    // A clock that was set back makes every look seem to be later.
    if (this.#lookedAt <= ctimeMs + clockLagMs || Date.now() < this.#lookedAt) this.#look();
    return (await this.#files).has(idOf({ dev, ino }));
  }

  #realPath(folder: string): string {
    const known = this.#real.get(folder);
    if (known !== undefined) return known;
    try {
      const real = realpathSync.native(folder);
      this.#real.set(folder, real);
      return real;
    } catch {
      return folder;
    }
  }

  #look(): void {
    this.#lookedAt = Date.now();
    this.#files = linkedFiles(this.paths);
  }
}

/** Whether a real path is a real folder, or lies below it. */
export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

const idOf = ({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string => `${dev}:${ino}`;

/** The files in these folders that have more than one name. */
async function linkedFiles(folders: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
      (): Dirent[] => [],
    );
    const files = entries.filter((entry) => entry.isFile());
    for (let at = 0; at < files.length; at += batch) {
      const some = files.slice(at, at + batch).map(async ({ parentPath, name }) => {
        const stat = await lstat(join(parentPath, name)).catch(() => undefined);
        if (stat !== undefined && stat.nlink > 1) found.add(idOf(stat));
      });
      await Promise.all(some);
    }
  }
  return found;
}
