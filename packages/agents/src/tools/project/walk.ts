/** The folders and files of a project from a folder on, wherever links and races try to lead: by open folders only. */
import { opendir } from 'node:fs/promises';
import { basename, join } from 'node:path';
// What git ignores, to the letter; git's own rules have many corners.
import ignore, { type Ignore } from 'ignore';
import { ToolError } from '../tool-error.ts';
import { openFolder, openIn, type OpenFolder, type ProjectPlace } from './project-path.ts';

export interface WalkOptions {
  /** Folders below the first one: 1 is what lies in it. */
  depth: number;
  /** Also what begins with a dot. What git itself keeps is never gone into. */
  hidden: boolean;
  /** Also what the `.gitignore` files of the project name. */
  ignored: boolean;
}

export interface Entry {
  /** From the session's folder on that the walk is in. */
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  isIgnored: boolean;
  /** Of a folder that was not gone into, since it has too many entries or cannot be opened. */
  problem?: string;
}

/** Of a folder with more entries no more are looked at. */
const maxEntries = 20_000;
/** Longer rules are not read (bytes). */
const maxRules = 1024 * 1024;

/** The `.gitignore` of one folder. */
interface Rules {
  /** From the project folder on, with a slash at its end; empty for the project folder. */
  folder: string;
  ignore: Ignore;
}

/**
 * All entries below a folder, each folder before what lies in it, by name. Ignored folders are told but not gone into.
 * Rejects with ToolError if the first folder cannot be opened.
 */
export async function* walk(start: ProjectPlace, options: WalkOptions): AsyncGenerator<Entry> {
  let rules: Rules[] = [];
  const parts = start.name.split('/').filter((part) => part !== '');
  // The rules of the folders above hold as well.
  for (const [at] of parts.entries()) {
    const above = { ...start, name: parts.slice(0, at).join('/') };
    const folder = await openFolder(above);
    try {
      rules.push(...(await rulesIn(folder, above.name)));
    } finally {
      await folder.close();
    }
  }
  // A folder that was asked for is shown, also if it is ignored itself.
  if (start.name !== '' && ignores(rules, `${start.name}/`)) rules = [];
  yield* walkFolder(start, rules, options);
}

async function* walkFolder(
  place: ProjectPlace,
  above: readonly Rules[],
  options: WalkOptions,
): AsyncGenerator<Entry> {
  const folder = await openFolder(place);
  let rules: Rules[];
  let found: Entry[];
  let isCut: boolean;
  try {
    rules = [...above, ...(await rulesIn(folder, place.name))];
    ({ found, isCut } = await entriesOf(folder, place.name, rules, options));
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
  if (isCut) {
    const problem = `There is more than ${maxEntries} entries.`;
    yield { name: place.name, kind: 'folder', isIgnored: false, problem };
  }
}

async function entriesOf(
  folder: OpenFolder,
  name: string,
  rules: readonly Rules[],
  options: WalkOptions,
): Promise<{ found: Entry[]; isCut: boolean }> {
  const found: Entry[] = [];
  let isCut = false;
  for await (const one of await opendir(folder.path)) {
    if (found.length >= maxEntries) {
      isCut = true;
      break;
    }
    if (one.name.startsWith('.') && !options.hidden) continue;
    if (folder.hidden.hides(join(folder.real, one.name))) continue;
    const path = name === '' ? one.name : `${name}/${one.name}`;
    const isIgnored = ignores(rules, one.isDirectory() ? `${path}/` : path);
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

/** By the rules nearest to the path that say anything of it. */
function ignores(rules: readonly Rules[], path: string): boolean {
  for (const { folder, ignore } of rules.toReversed()) {
    const said = ignore.test(path.slice(folder.length));
    if (said.ignored) return true;
    if (said.unignored) return false;
  }
  return false;
}

/** One or none. */
async function rulesIn(folder: OpenFolder, name: string): Promise<Rules[]> {
  const file = await openIn(folder, '.gitignore', '.gitignore').catch((error: unknown) => {
    if (error instanceof ToolError) return undefined;
    throw error;
  });
  if (file === undefined) return [];
  try {
    if (file.stat.size > maxRules) return [];
    const text = await file.handle.readFile('utf8');
    return [{ folder: name === '' ? '' : `${name}/`, ignore: ignore().add(text) }];
  } finally {
    await file.handle.close();
  }
}
