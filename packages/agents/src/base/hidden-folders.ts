import { type Dirent, realpathSync, type Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

/** How far the clock of a file system may be behind this machine's clock (ms). */
const clockLagMs = 1_000;
/** How many files are examined at the same time. */
const batch = 100;

/**
 * Folders whose files are never shown or changed: Liminal's own data folder, which contains the token. Files are
 * identified by real path and by inode, because a file in such a folder may have a second name outside of the folder (a
 * hard link).
 */
export class HiddenFolders {
  readonly #folders: readonly string[];
  readonly #real = new Map<string, string>();
  /** The files with more than one name (hard links) that the last scan found in the folders. */
  #files: Promise<ReadonlySet<string>> = Promise.resolve(new Set());
  /** When the last scan began, in ms since 1970. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @param folders - May contain folders that do not exist yet. */
  constructor(folders: readonly string[] = []) {
    this.#folders = folders.map((folder) => resolve(folder));
  }

  /** The real path of each folder, or the absolute path of a folder that does not exist. */
  get paths(): string[] {
    return this.#folders.map((folder) => this.#realPath(folder));
  }

  /** Returns whether a real path is a hidden folder, or lies in one. */
  hides(real: string): boolean {
    return this.paths.some((folder) => contains(folder, real));
  }

  /** Returns whether one of the folders is at this real path or below it. */
  isBelow(real: string): boolean {
    return this.paths.some((folder) => contains(real, folder));
  }

  /** Returns whether the file has another name (a hard link) in one of the folders. */
  async hasFile({ dev, ino, nlink, ctimeMs }: Stats): Promise<boolean> {
    if (nlink < 2 || this.#folders.length === 0) return false;
    // Adding a name changes the file's `ctime`, so a scan that began after the `ctime` has seen all of the file's
    // names. If the clock was set back, the last scan seems to lie in the future, so scan again.
    if (this.#lookedAt <= ctimeMs + clockLagMs || Date.now() < this.#lookedAt) this.#look();
    return (await this.#files).has(inodeKey({ dev, ino }));
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

/** Returns whether a real path is the real path `folder`, or lies below it. */
export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

const inodeKey = ({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string => `${dev}:${ino}`;

/** Returns the files in these folders that have more than one name. */
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
        if (stat !== undefined && stat.nlink > 1) found.add(inodeKey(stat));
      });
      await Promise.all(some);
    }
  }
  return found;
}
