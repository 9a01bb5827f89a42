/**
 * Lists the folders and files below a folder of the project. Entries are read only through open folders, so that
 * neither links nor races lead out of the project.
 */
import { opendir } from 'node:fs/promises';
import { basename, join } from 'node:path';
// The library follows git's ignore rules exactly, including their many special cases.
import ignore from 'ignore';
import { IgnoreRules, maxIgnoreFile } from '@liminal/protocol/ignore-rules';
import { ToolError } from '../tool-error.ts';
import { openFolder, openIn, type OpenFolder, type ProjectPlace } from './project-path.ts';

export interface WalkOptions {
  /** The levels of folders to list: 1 lists only the folder's own entries. */
  depth: number;
  /** Whether to include names that begin with a dot. The folder `.git` is never entered. */
  hidden: boolean;
  /** Whether to include entries that the project's `.gitignore` files exclude. */
  ignored: boolean;
}

export interface WalkEntry {
  /** The path relative to the session's folder in which the entry is. */
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  isIgnored: boolean;
  /** The reason why a folder was not entered: it has too many entries, or cannot be opened. */
  problem?: string;
}

/** The most entries of a folder; the entries of a larger folder are not listed. */
const maxEntries = 20_000;

/**
 * Yields all entries below a folder, sorted by name; a folder comes before its entries. Ignored folders are listed, but
 * their entries are not. Rejects with ToolError if the folder itself cannot be opened.
 */
export async function* walk(start: ProjectPlace, options: WalkOptions): AsyncGenerator<WalkEntry> {
  let rules = new IgnoreRules();
  const parts = start.name.split('/').filter((part) => part !== '');
  // The ignore rules of all parent folders also apply.
  for (const [at] of parts.entries()) {
    const above = { ...start, name: parts.slice(0, at).join('/') };
    const folder = await openFolder(above);
    try {
      await readRules(rules, folder, above.name);
    } finally {
      await folder.close();
    }
  }
  // If the requested folder itself is ignored, its entries are shown anyway.
  if (start.name !== '' && rules.ignores(`${start.name}/`)) rules = new IgnoreRules();
  yield* walkFolder(start, rules, options);
}

async function* walkFolder(
  place: ProjectPlace,
  rules: IgnoreRules,
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  const folder = await openFolder(place);
  let found: WalkEntry[];
  let isCut: boolean;
  try {
    await readRules(rules, folder, place.name);
    ({ found, isCut } = await readEntries(folder, place.name, rules, options));
  } finally {
    await folder.close();
  }
  for (const entry of found) {
    const real = `${folder.real}/${basename(entry.name)}`;
    const below = { ...place, asked: entry.name, real, name: entry.name };
    const isGit = basename(entry.name) === '.git';
    const isEntered = entry.kind === 'folder' && options.depth > 1 && !isGit && !entry.isIgnored;
    yield entry;
    if (!isEntered) continue;
    try {
      yield* walkFolder(below, rules, { ...options, depth: options.depth - 1 });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      yield { ...entry, problem: error.message };
    }
  }
  // A tree may have any number of ignore files: keep only those of the present folder and its parents.
  rules.remove(rulesKey(place.name));
  if (isCut) {
    const problem = `There are more than ${maxEntries} entries.`;
    yield { name: place.name, kind: 'folder', isIgnored: false, problem };
  }
}

async function readEntries(
  folder: OpenFolder,
  name: string,
  rules: IgnoreRules,
  options: WalkOptions,
): Promise<{ found: WalkEntry[]; isCut: boolean }> {
  const found: WalkEntry[] = [];
  let isCut = false;
  for await (const one of await opendir(folder.path)) {
    if (found.length >= maxEntries) {
      isCut = true;
      break;
    }
    if (one.name.startsWith('.') && !options.hidden) continue;
    if (folder.hidden.hides(join(folder.real, one.name))) continue;
    const path = name === '' ? one.name : `${name}/${one.name}`;
    const isIgnored = rules.ignores(one.isDirectory() ? `${path}/` : path);
    if (isIgnored && !options.ignored) continue;
    const kind = one.isDirectory()
      ? 'folder'
      : one.isFile()
        ? 'file'
        : one.isSymbolicLink()
          ? 'link'
          : 'other';
    found.push({ name: path, kind, isIgnored });
  }
  return { found: found.toSorted((a, b) => (a.name < b.name ? -1 : 1)), isCut };
}

/** Reads the rules in a folder's `.gitignore`, if it has one, into `rules`. */
async function readRules(rules: IgnoreRules, folder: OpenFolder, name: string): Promise<void> {
  const file = await openIn(folder, '.gitignore', '.gitignore').catch((error: unknown) => {
    if (error instanceof ToolError) return undefined;
    throw error;
  });
  if (file === undefined) return;
  try {
    if (file.stat.size > maxIgnoreFile) return;
    rules.add(rulesKey(name), ignore().add(await file.handle.readFile('utf8')));
  } finally {
    await file.handle.close();
  }
}

/** Returns the path of a folder in the form that IgnoreRules needs. */
const rulesKey = (name: string): string => (name === '' ? '' : `${name}/`);
