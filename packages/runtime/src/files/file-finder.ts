import { realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FilesResult } from '@liminal/protocol';
import { Tinypool } from 'tinypool';
import { errors } from '../errors.ts';
import type { Roots } from '../roots.ts';
import type { FoundPaths, Sought } from './find-worker.ts';
import { mayBeShown } from '../shown-files.ts';

/** How long an idle thread keeps its lists in memory, in ms. */
const idleMs = 60_000;
/**
 * How many more paths than requested are checked, because some paths may lead outside the project or no longer exist.
 */
const spare = 50;

/**
 * Finds files of a project while a user types. Listing and ranking run in their own thread: 100,000 paths would block
 * the server.
 */
export class FileFinder {
  readonly #roots: Roots;
  #pool: Tinypool | undefined;

  constructor(roots: Roots) {
    this.#roots = roots;
  }

  /** Throws `PROJECT_DIR_NOT_FOUND`, `PROJECT_DIR_NOT_ALLOWED`, `FILE_UNREADABLE`. */
  async find(projectDir: string, query: string, limit: number): Promise<FilesResult> {
    const folder = await this.#roots.admit(projectDir);
    const hidden = this.#roots.hiddenBelow(folder);
    const { paths, isWhole } = await this.#ask({ folder, hidden, query, limit: limit + spare });
    const looked = await Promise.all(paths.map(async (path) => this.#look(folder, path)));
    const files = looked.filter((file) => file !== undefined).slice(0, limit);
    return { files, ...(!isWhole && { truncated: true }) };
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    if (pool === undefined) return;
    if (pool.threads.length > 0) await pool.run(undefined, { name: 'end' }).catch(() => undefined);
    await pool.destroy();
  }

  async #ask(sought: Sought): Promise<FoundPaths> {
    // One thread, which serves other requests while it waits for the disk.
    this.#pool ??= new Tinypool({
      filename: new URL('./find-worker.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: 1_000,
      idleTimeout: idleMs,
    });
    try {
      return (await this.#pool.run(sought, { name: 'find' })) as FoundPaths;
    } catch (cause) {
      throw errors.FILE_UNREADABLE.folder(sought.folder, { cause });
    }
  }

  /**
   * Returns a path that leads to a file or folder inside the project; undefined for a path that leads outside, or that
   * no longer exists.
   */
  async #look(folder: string, path: string): Promise<FilesResult['files'][number] | undefined> {
    const real = await realpath(join(folder, path)).catch(() => undefined);
    if (!mayBeShown(real, { projectDir: folder, roots: this.#roots })) return undefined;
    const found = await stat(real).catch(() => undefined);
    if (found?.isDirectory() === true) {
      return { path: path.endsWith('/') ? path : `${path}/`, name: basename(path) };
    }
    if (found?.isFile() !== true || (await this.#roots.hidesFile(found))) return undefined;
    return { path, name: basename(path) };
  }
}
