/** The files of a folder without git; files that its `.gitignore` files name are also left out. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
// fdir walks 100,000 files in a second, and reads many folders at the same time. If fdir is stopped, it returns the
// files found so far.
import { fdir } from 'fdir';
// Implements git's ignore rules exactly, which have many special cases.
import ignore, { type Ignore } from 'ignore';
import type { Bounds, Scan } from './bounds.ts';

/** Longer rule files are not read (bytes). */
const rulesMax = 1024 * 1024;

/** Folders that are never searched. */
const skippedFolders = new Set(['.git', '.hg', '.svn', 'node_modules']);
const virtualFolders = new Set(['/proc/', '/sys/', '/dev/']);

export async function walkFiles(
  folder: string,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<Scan> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(bounds.time)]);
  const rules = new IgnoreRules(folder);
  const paths = await new fdir()
    .withRelativePaths()
    .withMaxFiles(bounds.files)
    .withAbortSignal(inTime)
    .exclude(
      (name, path) => skippedFolders.has(name) || virtualFolders.has(path) || !rules.enter(path),
    )
    .filter((path) => !rules.ignores(path))
    .crawl(folder)
    .withPromise();
  return { paths, isWhole: !inTime.aborted && paths.length < bounds.files };
}

/** The `.gitignore` files of a folder and of the folders below it. */
class IgnoreRules {
  readonly #root: string;
  /** By folder, relative to the root and with a trailing slash; only folders that have rules. */
  readonly #byFolder = new Map<string, Ignore>();

  constructor(root: string) {
    this.#root = root;
    this.#read('');
  }

  /** Reads the rules of a folder. Returns false, and reads nothing, if the folder is ignored. */
  enter(path: string): boolean {
    const folder = `${relative(this.#root, path)}/`;
    if (this.ignores(folder)) return false;
    this.#read(folder);
    return true;
  }

  /** Whether a path is ignored: the rules nearest to the path that mention it decide. */
  ignores(path: string): boolean {
    for (
      let cut = lastPartIndex(path);
      cut >= 0;
      cut = cut === 0 ? -1 : lastPartIndex(path.slice(0, cut))
    ) {
      const result = this.#byFolder.get(path.slice(0, cut))?.test(path.slice(cut));
      if (result?.ignored === true) return true;
      if (result?.unignored === true) return false;
    }
    return false;
  }

  #read(folder: string): void {
    const text = readRules(`${this.#root}/${folder}.gitignore`);
    if (text !== undefined) this.#byFolder.set(folder, ignore().add(text));
  }
}

/** The index at which the last part of a path begins. */
const lastPartIndex = (path: string): number => path.lastIndexOf('/', path.length - 2) + 1;

/** The text of a regular file; does not block on a pipe. */
function readRules(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size, isFile } = statOf(file);
    return isFile && size <= rulesMax ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function statOf(file: number): { size: number; isFile: boolean } {
  const stat = fstatSync(file);
  return { size: stat.size, isFile: stat.isFile() };
}
