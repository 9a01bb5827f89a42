/** Reading the files by which a project folder changes what an agent runs or may do. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { ProjectFile, ProjectSettings } from '../project-settings.ts';
import { childEnvironment } from './child-environment.ts';

/** The most characters that a person is shown of one file, and of all files together. */
const maxText = 100_000;
const maxAll = 400_000;
/** The most files in a folder of settings and the folders below it. */
const maxFiles = 5_000;

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

/** The files at these paths that exist, each once. */
export async function readAll(paths: readonly string[]): Promise<FoundFile[]> {
  const found = await Promise.all([...new Set(paths)].map(readWhole));
  return found.filter((file) => file !== undefined);
}

/** The paths of all files below a folder, links to folders followed; undefined if there are too many. */
export async function filesBelow(folder: string): Promise<string[] | undefined> {
  const files: string[] = [];
  const seen = new Set<string>();
  const open = [folder];
  for (const next of open) {
    const real = await realpath(next).catch(() => next);
    if (seen.has(real)) continue;
    seen.add(real);
    if (files.length + seen.size > maxFiles) return undefined;
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
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
    const common = await readFile(join(own, 'commondir'), 'utf8').catch(() => undefined);
    if (common === undefined) return { root };
    return { root, main: await realpath(resolve(own, common.trim(), '..')).catch(() => root) };
  }
  return undefined;
}

/**
 * Those of these folders that git ignores and tracks nothing in: a clone does not bring them. None if git cannot be
 * asked.
 */
export async function ignoredByGit(
  folder: string,
  paths: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
  // Not started in the folder, whose programs must not run.
  const git = spawn(
    'git',
    ['-C', folder, '-c', 'core.fsmonitor=false', 'check-ignore', '-z', '--stdin'],
    { cwd: '/', env: childEnvironment(own, {}, {}), stdio: ['pipe', 'pipe', 'ignore'] },
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
      ? `These files cannot be shown whole: ${unshown.join(', ')}.`
      : length > maxAll
        ? 'The files are too long to be shown whole.'
        : undefined;
  const kept = length > maxAll ? files.map(({ path }) => ({ path, text: '(not shown)' })) : files;
  return { hash: hash.digest('hex'), files: kept, ...(problem !== undefined && { problem }) };
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
