/** The files of a folder without git; what its `.gitignore` files name is left out all the same. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
// fdir walks 100,000 files in a second, many folders at a time, and can be stopped with what it has.
import { fdir } from 'fdir';
// What git ignores, to the letter; git's own rules have many corners.
import ignore, { type Ignore } from 'ignore';
import type { Bounds, Scan } from './bounds.ts';

/** Longer rules are not read (bytes). */
const RULES_MAX = 1024 * 1024;

/** Folders with what nobody looks for, and those that the system makes up. */
const leftOut = new Set(['.git', '.hg', '.svn', 'node_modules']);
const madeUp = new Set(['/proc/', '/sys/', '/dev/']);

export async function walkFiles(
  folder: string,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<Scan> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(bounds.time)]);
  const rules = new Rules(folder);
  const paths = await new fdir()
    .withRelativePaths()
    .withMaxFiles(bounds.files)
    .withAbortSignal(inTime)
    .exclude((name, path) => leftOut.has(name) || madeUp.has(path) || !rules.enter(path))
    .filter((path) => !rules.ignores(path))
    .crawl(folder)
    .withPromise();
  return { paths, isWhole: !inTime.aborted && paths.length < bounds.files };
}

/** The `.gitignore` files of a folder and of those below it. */
class Rules {
  readonly #root: string;
  /** By folder, relative to the root and with a slash at its end; only those that have rules. */
  readonly #byFolder = new Map<string, Ignore>();

  constructor(root: string) {
    this.#root = root;
    this.#read('');
  }

  /** Reads the rules of a folder, unless it is ignored: then false. */
  enter(path: string): boolean {
    const folder = `${relative(this.#root, path)}/`;
    if (this.ignores(folder)) return false;
    this.#read(folder);
    return true;
  }

  /** By the rules nearest to the path that say anything of it. */
  ignores(path: string): boolean {
    for (let cut = end(path); cut >= 0; cut = cut === 0 ? -1 : end(path.slice(0, cut))) {
      const said = this.#byFolder.get(path.slice(0, cut))?.test(path.slice(cut));
      if (said?.ignored === true) return true;
      if (said?.unignored === true) return false;
    }
    return false;
  }

  #read(folder: string): void {
    const text = readRules(`${this.#root}/${folder}.gitignore`);
    if (text !== undefined) this.#byFolder.set(folder, ignore().add(text));
  }
}

/** Where the last part of a path begins. */
const end = (path: string): number => path.lastIndexOf('/', path.length - 2) + 1;

/** The text of a regular file; a pipe is not waited for. */
function readRules(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size, isFile } = statOf(file);
    return isFile && size <= RULES_MAX ? readFileSync(file, 'utf8') : undefined;
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
