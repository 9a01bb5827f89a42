/** Lists the files of a folder without git. Leaves out files that `.gitignore` files in the folder exclude. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
// fdir walks 100,000 files in a second, because it reads many folders at the same time. If fdir is stopped, it returns
// the files found so far.
import { fdir } from 'fdir';
// `ignore` implements git's ignore rules exactly; these rules have many special cases.
import ignore from 'ignore';
import { IgnoreRules, maxIgnoreFile } from '@liminal/protocol/ignore-rules';
import type { Bounds, Scan } from './bounds.ts';

/** Folders that are never searched. */
const skippedFolders = new Set(['.git', '.hg', '.svn', 'node_modules']);
const virtualFolders = new Set(['/proc/', '/sys/', '/dev/']);

export async function walkFiles(
  folder: string,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<Scan> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(bounds.time)]);
  const rules = new IgnoreRules();
  readRules(rules, folder, '');
  // Reads the ignore rules of each folder that the walk enters.
  const isIgnored = (path: string): boolean => {
    const inner = `${relative(folder, path)}/`;
    if (rules.ignores(inner)) return true;
    readRules(rules, folder, inner);
    return false;
  };
  const paths = await new fdir()
    .withRelativePaths()
    .withMaxFiles(bounds.files)
    .withAbortSignal(inTime)
    .exclude(
      (name, path) => skippedFolders.has(name) || virtualFolders.has(path) || isIgnored(path),
    )
    .filter((path) => !rules.ignores(path))
    .crawl(folder)
    .withPromise();
  return { paths, isWhole: !inTime.aborted && paths.length < bounds.files };
}

/** Reads the rules of a folder (see IgnoreRules) into `rules`. */
function readRules(rules: IgnoreRules, root: string, folder: string): void {
  const text = readText(`${root}/${folder}.gitignore`);
  if (text !== undefined) rules.add(folder, ignore().add(text));
}

/** The text of a regular file; does not block on a pipe. */
function readText(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size, isFile } = statOf(file);
    return isFile && size <= maxIgnoreFile ? readFileSync(file, 'utf8') : undefined;
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
