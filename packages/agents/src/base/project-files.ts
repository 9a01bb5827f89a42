/** Reads the files of a project folder that change what an agent runs or may do. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { ProjectFile, ProjectSettings } from '../contract/project-settings.ts';
import { childEnvironment } from './child-environment.ts';

/** The most characters that are shown to a person: of one file, and of all files together. */
const maxText = 100_000;
const maxAll = 400_000;
/** The largest number of files and folders of one project that are examined, and of bytes that are read from them. */
const maxFiles = 5_000;
const maxRead = 20_000_000;
/** How many files are read concurrently. */
const batch = 50;
/** The most file names that one sentence lists. */
const maxNames = 20;

/** A file; `text` is undefined if the text cannot be shown whole. */
export interface FoundFile {
  path: string;
  /** As stored. */
  text: string | undefined;
}

/** Returns the file at a path, or undefined if there is none. The path may lead to a pipe, a device, or a link. */
async function readWholeFile(path: string): Promise<FoundFile | undefined> {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
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
 * Reads a project folder once. A few links can give a file or folder thousands of names, so all reads share one limit.
 * Call one method at a time, so that it does not depend on chance which files exceed the limit.
 */
export class ProjectReading {
  #filesLeft = maxFiles;
  #bytesLeft = maxRead;

  /** Reads the existing files at these paths, each file once. Files beyond the limit have no text. */
  async readAll(paths: readonly string[]): Promise<FoundFile[]> {
    const all = [...new Set(paths)];
    const read: FoundFile[] = [];
    for (let at = 0; at < all.length; at += batch) {
      const some = await Promise.all(all.slice(at, at + batch).map(readWholeFile));
      for (const file of some) {
        if (file === undefined) continue;
        this.#bytesLeft -= file.text?.length ?? 0;
        read.push(this.#bytesLeft < 0 ? { path: file.path, text: undefined } : file);
      }
    }
    return read;
  }

  /** Returns the paths of all files below a folder, including linked folders; undefined if there are too many. */
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

/** Returns a folder and all its parents, innermost first. */
export function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

export interface Repository {
  root: string;
  /** The root of the main work tree, if `root` is another work tree. */
  main?: string;
}

/** Returns the git repository that contains a real path. */
export async function repositoryOf(folder: string): Promise<Repository | undefined> {
  for (const root of withParents(folder)) {
    const git = join(root, '.git');
    const about = await stat(git).catch(() => undefined);
    if (about === undefined) continue;
    if (about.isDirectory()) return { root };
    const gitDir = /^gitdir: (.+)$/m.exec((await readWholeFile(git))?.text ?? '')?.[1]?.trim();
    if (gitDir === undefined) return { root };
    const own = resolve(root, gitDir);
    const common = (await readWholeFile(join(own, 'commondir')))?.text;
    if (common === undefined) return { root };
    return { root, main: await realpath(resolve(own, common.trim(), '..')).catch(() => root) };
  }
  return undefined;
}

/**
 * Returns the folders that git ignores and that have no tracked files, so a clone does not bring them. Empty if git
 * fails, or does not answer before `signal` aborts.
 */
export async function ignoredByGit(
  folder: string,
  paths: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0 || signal.aborted) return new Set();
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
  // A partial clone would fetch missing objects with a program from the repository's configuration.
  const noFetch = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: '' };
  // Start git outside the project folder, so that git runs no program of the project.
  const git = spawn(
    'git',
    ['-C', folder, '-c', 'core.fsmonitor=false', 'check-ignore', '-z', '--stdin'],
    {
      cwd: '/',
      env: childEnvironment(own, noFetch, {}),
      stdio: ['pipe', 'pipe', 'ignore'],
      // A `.gitignore` may be a pipe, and git would wait for its writer.
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

/** Returns the project settings that consist of these files; undefined without files. */
export function settingsOf(found: readonly FoundFile[]): ProjectSettings | undefined {
  if (found.length === 0) return undefined;
  const hash = createHash('sha256');
  for (const { path, text } of found) hash.update(JSON.stringify([path, text ?? null]));
  const files = found.map(({ path, text }): ProjectFile => ({ path, text: readableText(text) }));
  const unshown = found.filter(({ text }) => text === undefined).map(({ path }) => path);
  const length = files.reduce((sum, { text }) => sum + text.length, 0);
  const problem =
    unshown.length > 0
      ? `These files cannot be shown whole: ${listed(unshown)}.`
      : length > maxAll
        ? 'The files are too long to be shown whole.'
        : undefined;
  const shownFiles =
    length > maxAll ? files.map(({ path }) => ({ path, text: '(not shown)' })) : files;
  return { hash: hash.digest('hex'), files: shownFiles, ...(problem !== undefined && { problem }) };
}

function listed(paths: readonly string[]): string {
  const others = paths.length - maxNames;
  const named = paths.slice(0, maxNames).join(', ');
  return others > 0 ? `${named}, and ${others} more` : named;
}

/** Returns the text for people: JSON is indented, with its escapes resolved; other text is unchanged. */
function readableText(text: string | undefined): string {
  if (text === undefined) return '(This file cannot be shown as text.)';
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
