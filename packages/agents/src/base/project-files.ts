/** Reading the files by which a project folder changes what an agent runs or may do. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { ProjectFile, ProjectSettings } from '../project-settings.ts';
import { childEnvironment } from './child-environment.ts';

/** The most characters that a person is shown of one file, and of all files together. */
const maxText = 100_000;
const maxAll = 400_000;
/** The most files and folders of one project that are looked at, and the most bytes that are read of them. */
const maxFiles = 5_000;
const maxRead = 20_000_000;
/** How many files are read together. */
const batch = 50;
/** The most files whose names are shown in a sentence. */
const maxNames = 20;

/** A file as found; `text` is undefined if it cannot be shown whole. */
export interface FoundFile {
  path: string;
  /** As stored. */
  text: string | undefined;
}

/** The file at a path, or undefined if there is none. It may be anything: a pipe, a device, a link. */
async function readWhole(path: string): Promise<FoundFile | undefined> {
  // A pipe must not be waited for.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(codeOf);
  if (typeof file === 'string') {
    return file === 'ENOENT' || file === 'ENOTDIR' ? undefined : { path, text: undefined };
  }
  try {
    const about = await file.stat();
    if (about.isDirectory()) return undefined;
    if (!about.isFile() || about.size > maxText) return { path, text: undefined };
    const bytes = Buffer.alloc(maxText + 1);
    const { bytesRead } = await file.read(bytes, 0, maxText + 1, 0);
    const text = bytes.subarray(0, bytesRead).toString('utf8');
    return { path, text: bytesRead > maxText || text.includes('\uFFFD') ? undefined : text };
  } catch {
    return { path, text: undefined };
  } finally {
    await file.close();
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown';

/**
 * One reading of a project folder. A few links can give one file or folder thousands of names, so all that is read shares
 * one bound. Call one method at a time: which files are beyond the bound must not depend on chance.
 */
export class ProjectReading {
  #filesLeft = maxFiles;
  #bytesLeft = maxRead;

  /** The files at these paths that exist, each once. Those beyond the bound have no text. */
  async readAll(paths: readonly string[]): Promise<FoundFile[]> {
    const all = [...new Set(paths)];
    const read: FoundFile[] = [];
    for (let at = 0; at < all.length; at += batch) {
      const some = await Promise.all(all.slice(at, at + batch).map(readWhole));
      for (const file of some) {
        if (file === undefined) continue;
        this.#bytesLeft -= file.text?.length ?? 0;
        read.push(this.#bytesLeft < 0 ? { path: file.path, text: undefined } : file);
      }
    }
    return read;
  }

  /** The paths of all files below a folder, links to folders followed; undefined if there are too many. */
  async filesBelow(folder: string): Promise<string[] | undefined> {
    const files: string[] = [];
    const seen = new Set<string>();
    const open = [folder];
    for (const next of open) {
      const real = await realpath(next).catch(() => next);
      if (seen.has(real)) continue;
      seen.add(real);
      const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
      this.#filesLeft -= entries.length;
      if (entries.length > 0 && this.#filesLeft < 0) return undefined;
      for (const entry of entries) {
        const path = join(next, entry.name);
        const isFolder = entry.isSymbolicLink()
          ? ((await stat(path).catch(() => undefined))?.isDirectory() ?? false)
          : entry.isDirectory();
        if (isFolder) open.push(path);
        else files.push(path);
      }
    }
    return files.toSorted();
  }
}

/** A folder and all that it lies in, the innermost first. */
export function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

export interface Repository {
  root: string;
  /** The root of the main work tree, if `root` belongs to another. */
  main?: string;
}

/** The git repository that a real path lies in. */
export async function repositoryOf(folder: string): Promise<Repository | undefined> {
  for (const root of withParents(folder)) {
    const git = join(root, '.git');
    const about = await stat(git).catch(() => undefined);
    if (about === undefined) continue;
    if (about.isDirectory()) return { root };
    const gitDir = /^gitdir: (.+)$/m.exec((await readWhole(git))?.text ?? '')?.[1]?.trim();
    if (gitDir === undefined) return { root };
    const own = resolve(root, gitDir);
    const common = (await readWhole(join(own, 'commondir')))?.text;
    if (common === undefined) return { root };
    return { root, main: await realpath(resolve(own, common.trim(), '..')).catch(() => root) };
  }
  return undefined;
}

/**
 * Those of these folders that git ignores and tracks nothing in: a clone does not bring them. None if git cannot be
 * asked, or does not answer before `signal` aborts.
 */
export async function ignoredByGit(
  folder: string,
  paths: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0 || signal.aborted) return new Set();
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
  // A partial clone would fetch what it lacks, by a program that it names.
  const noFetch = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: '' };
  // Not started in the folder, whose programs must not run.
  const git = spawn(
    'git',
    ['-C', folder, '-c', 'core.fsmonitor=false', 'check-ignore', '-z', '--stdin'],
    {
      cwd: '/',
      env: childEnvironment(own, noFetch, {}),
      stdio: ['pipe', 'pipe', 'ignore'],
      // A `.gitignore` may be a pipe, which git would wait for.
      signal,
      killSignal: 'SIGKILL',
    },
  );
  const { promise, resolve: end } = Promise.withResolvers<number | null>();
  git.on('error', () => end(null)).on('close', end);
  git.stdin.on('error', () => undefined).end(paths.map((path) => `${path}\0`).join(''));
  const [ignored, code] = await Promise.all([readText(git.stdout).catch(() => ''), promise]);
  return new Set(code === 0 ? ignored.split('\0').filter((path) => path !== '') : []);
}

/** The settings that these files make; undefined if there are none. */
export function settingsOf(found: readonly FoundFile[]): ProjectSettings | undefined {
  if (found.length === 0) return undefined;
  const hash = createHash('sha256');
  for (const { path, text } of found) hash.update(JSON.stringify([path, text ?? null]));
  const files = found.map(({ path, text }): ProjectFile => ({ path, text: shown(text) }));
  const unshown = found.filter(({ text }) => text === undefined).map(({ path }) => path);
  const length = files.reduce((sum, { text }) => sum + text.length, 0);
  const problem =
    unshown.length > 0
      ? `These files cannot be shown whole: ${listed(unshown)}.`
      : length > maxAll
        ? 'The files are too long to be shown whole.'
        : undefined;
  const kept = length > maxAll ? files.map(({ path }) => ({ path, text: '(not shown)' })) : files;
  return { hash: hash.digest('hex'), files: kept, ...(problem !== undefined && { problem }) };
}

function listed(paths: readonly string[]): string {
  const others = paths.length - maxNames;
  const named = paths.slice(0, maxNames).join(', ');
  return others > 0 ? `${named}, and ${others} more` : named;
}

/** JSON is indented, with its escapes resolved; everything else is shown as it is. */
function shown(text: string | undefined): string {
  if (text === undefined) return '(This cannot be shown as text.)';
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
