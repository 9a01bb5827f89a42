import { createHash } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { contains } from '@liminal/agents';
import { errors, RuntimeError } from '../errors.ts';
import { mayBeShown, openShown, type FileScope, readUpTo } from '../shown-files.ts';
import { type GitAnswer, gitOutput } from './run-git.ts';

/** A work tree and the commit with which the work tree is compared. */
export interface Repository {
  /** The real path of the work tree's top. */
  top: string;
  /** The path of the repository's index. */
  index: string;
  /** The hash of object ids: `sha1` or `sha256`. */
  algorithm: string;
  /** The id of the last commit; undefined if there is no commit yet. */
  commit?: string;
  /** Undefined if `HEAD` is detached. */
  branch?: string;
  /** The id of the tree that files are compared with: the commit's, or an empty tree. */
  base: string;
}

/**
 * Finds the work tree that the project folder lies in. The repository must lie in a folder whose files may be shown,
 * because a project could point to any other repository on the machine.
 * @throws `DIFF_UNAVAILABLE`.
 */
export async function openRepository(scope: FileScope, signal: AbortSignal): Promise<Repository> {
  const { projectDir } = scope;
  const ask = async (...args: string[]) => gitOutput(projectDir, args, { signal });
  const paths = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir'];
  const more = ['--git-path', 'objects', '--git-path', 'index', '--show-object-format'];
  const [about, head, branch] = await Promise.all([
    ask('rev-parse', '--path-format=absolute', ...paths, ...more),
    ask('rev-parse', '--verify', '-q', 'HEAD'),
    ask('symbolic-ref', '-q', '--short', 'HEAD'),
  ]);
  const lines = outputText(about).split('\n');
  const [tree = '', folder = '', shared = '', objects = '', index = '', algorithm = ''] = lines;
  if (lines.length !== 6) throw errors.DIFF_UNAVAILABLE.lineBreak();
  const top = await real(tree);
  // A repository's own settings can name any folder as its work tree.
  if (top === undefined || !contains(top, projectDir)) throw errors.DIFF_UNAVAILABLE.noWorkTree();
  const parts = [folder, shared, ...(await objectPlaces(objects, scope))];
  const places = await Promise.all(parts.map(real));
  if (!places.every((each) => mayBeShown(each, scope))) {
    throw errors.DIFF_UNAVAILABLE.outside();
  }
  const commit = head.kind === 'done' ? outputText(head) : undefined;
  return {
    top,
    index,
    algorithm,
    ...(commit !== undefined && { commit }),
    ...(branch.kind === 'done' && { branch: outputText(branch) }),
    base: commit ?? createHash(algorithm).update('tree 0\0').digest('hex'),
  };
}

const real = async (path: string): Promise<string | undefined> =>
  realpath(path).catch(() => undefined);

/**
 * The most folders of objects that are followed. Each such folder may refer to further folders; git follows chains of
 * five.
 */
const alternatesMax = 20;

/**
 * Returns the folders in which a repository's objects may lie: its own folder, the targets of links, and folders to
 * which the repository's settings refer.
 */
async function objectPlaces(objects: string, scope: FileScope): Promise<string[]> {
  const places = new Set([objects]);
  for (const folder of places) {
    if (places.size > alternatesMax) throw errors.DIFF_UNAVAILABLE.alternates();
    for (const below of [folder, join(folder, 'info'), join(folder, 'pack')]) {
      const entries = await readdir(below, { withFileTypes: true }).catch(() => []);
      const links = entries.filter((entry) => !entry.isDirectory() && !entry.isFile());
      if (links.length > alternatesMax) throw errors.DIFF_UNAVAILABLE.links();
      for (const { name } of links) places.add(join(below, name));
    }
    for (const line of (await readAlternates(folder, scope)).split('\n')) {
      // Git would decode a quoted path, and this code does not.
      if (line.startsWith('"')) throw errors.DIFF_UNAVAILABLE.oddName();
      if (line !== '' && !line.startsWith('#')) places.add(resolve(folder, line));
    }
  }
  return [...places];
}

/** The most bytes that are read of the file `info/alternates`. */
const namedMax = 64 * 1024;

/**
 * Returns the content of the file `info/alternates`, which lists further folders of objects; empty if the file is
 * missing or must not be read.
 */
async function readAlternates(folder: string, scope: FileScope): Promise<string> {
  const path = await real(join(folder, 'info/alternates'));
  const opened =
    path === undefined ? undefined : await openShown(path, path, scope).catch(() => undefined);
  if (opened === undefined) return '';
  try {
    return (await readUpTo(opened.file, 0, namedMax)).toString();
  } finally {
    await opened.file.close();
  }
}

/** The output of git without the last line end. Throws `DIFF_UNAVAILABLE` if git has no output. */
function outputText(answer: GitAnswer): string {
  switch (answer.kind) {
    case 'done':
      return answer.output.toString().replace(/\n$/, '');
    case 'missing':
      throw errors.DIFF_UNAVAILABLE.noGit();
    case 'cut':
      throw errors.DIFF_UNAVAILABLE.slow();
    case 'failed':
      throw failure(answer.complaint);
  }
}

function failure(complaint: string): RuntimeError {
  const { foreign, gitSays, noRepository, noWorkTree } = errors.DIFF_UNAVAILABLE;
  if (/not a git repository/i.test(complaint)) return noRepository();
  if (/must be run in a work tree/i.test(complaint)) return noWorkTree();
  if (/dubious ownership/i.test(complaint)) return foreign();
  const [first = ''] = complaint.split('\n');
  return gitSays(first.slice(0, 300));
}
