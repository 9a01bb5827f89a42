import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, realpath, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { messageOf } from '@liminal/protocol';
import type { ClientFiles } from '../../client-files.ts';
import { HiddenFolders } from '../../hidden-folders.ts';
import { type ClientError, clientRefused, invalidParams, missingFile } from './client-error.ts';

/** The most bytes that are read or written. */
const maxFileBytes = 16 * 1024 * 1024;
/** The longest path (bytes): Linux takes no longer one, and each folder of a path is looked up. */
const maxPathBytes = 4_096;

interface ProjectFilesOptions {
  /** Further folders whose files are read and written. */
  additionalDirectories?: readonly string[] | undefined;
  /** The texts that a client of ours has open. */
  clients?: ClientFiles | undefined;
  /** Folders whose files are neither read nor written. */
  hiddenFolders?: HiddenFolders | undefined;
}

interface ReadRequest {
  path: string;
  /** Counts from 1. */
  line?: number | null;
  /** How many lines. */
  limit?: number | null;
}

/**
 * Reads and writes text files in a session's folders for an agent. A path that leads outside these folders, also by a link,
 * is refused. A file that is open in a client, such as an editor, is read and written by that client.
 */
export class ProjectFiles {
  readonly #projectDir: string;
  readonly #beside: readonly string[];
  readonly #clients: ClientFiles | undefined;
  readonly #hidden: HiddenFolders;

  constructor(projectDir: string, options: ProjectFilesOptions = {}) {
    const { clients, hiddenFolders, additionalDirectories = [] } = options;
    this.#projectDir = projectDir;
    this.#beside = additionalDirectories;
    this.#clients = clients;
    this.#hidden = hiddenFolders ?? new HiddenFolders();
  }

  async read({ path, line, limit }: ReadRequest): Promise<{ content: string }> {
    const real = await this.#resolve(path);
    const part = { line: line ?? undefined, limit: limit ?? undefined };
    const content = await this.#clients?.read(real, part);
    if (content !== undefined) return { content };
    const file = await openFile(real, path, constants.O_RDONLY);
    try {
      const { size } = await this.#checkedStat(file, path);
      if (size > maxFileBytes) throw tooLarge(path);
      return { content: cut(asText(await file.readFile(), path), line ?? 1, limit ?? undefined) };
    } finally {
      await file.close();
    }
  }

  async write({
    path,
    content,
  }: {
    path: string;
    content: string;
  }): Promise<Record<string, never>> {
    if (Buffer.byteLength(content) > maxFileBytes) throw tooLarge(path);
    const real = await this.#resolve(path);
    if (await this.#clients?.write(real, content).catch(refused)) return {};
    await makeFolder(dirname(real), path);
    const file = await openFile(real, path, constants.O_WRONLY | constants.O_CREAT);
    try {
      await this.#checkedStat(file, path);
      await file.truncate();
      await file.writeFile(content);
    } finally {
      await file.close();
    }
    return {};
  }

  /** The real path of a file that may not exist yet. */
  async #resolve(path: string): Promise<string> {
    if (!isAbsolute(path) || path.includes('\0')) {
      throw invalidParams(`“${path}” is not an absolute path.`);
    }
    if (Buffer.byteLength(path) > maxPathBytes) {
      throw invalidParams(`A path of ${path.length} characters is too long.`);
    }
    const real = await realPathOf(path);
    if (!(await this.#holds(real))) {
      const folder = `the project folder ${this.#projectDir}`;
      const names = [folder, ...this.#beside].join(', or ');
      throw invalidParams(`“${path}” is not a file inside ${names}.`);
    }
    if (this.#hidden.hides(real)) throw isHidden(path);
    // A client that has it open reads and writes it itself: it cannot be checked later.
    await this.#refuseHidden(await lstat(real).catch(() => undefined), path);
    return real;
  }

  async #holds(real: string): Promise<boolean> {
    const beside = this.#beside.map(async (each) => realpath(each).catch(() => undefined));
    const roots = await Promise.all([realpath(this.#projectDir), ...beside]);
    return roots.some((root) => {
      const fromRoot = root === undefined ? '' : relative(root, real);
      return !/^($|\.\.(\/|$))/.test(fromRoot) && !isAbsolute(fromRoot);
    });
  }

  async #checkedStat(file: FileHandle, path: string): Promise<Stats> {
    const found = await file.stat();
    if (found.isDirectory()) throw invalidParams(`“${path}” is a folder, not a file.`);
    if (!found.isFile()) throw invalidParams(`“${path}” is not a file.`);
    await this.#refuseHidden(found, path);
    return found;
  }

  async #refuseHidden(found: Stats | undefined, path: string): Promise<void> {
    if (found !== undefined && (await this.#hidden.hasFile(found))) throw isHidden(path);
  }
}

function refused(error: unknown): never {
  throw clientRefused(messageOf(error));
}

/** Follows the links in what exists of a path. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const isLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    if (isLink) throw invalidParams(`“${path}” is a link that leads nowhere.`);
    const parent = dirname(path);
    return parent === path ? path : join(await realPathOf(parent), basename(path));
  }
}

async function openFile(real: string, path: string, flags: number): Promise<FileHandle> {
  try {
    // The path was resolved: a link here has just been created by somebody. A pipe must not be waited for.
    return await open(real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o666);
  } catch (error) {
    throw refusal(path, error);
  }
}

const problems: Record<string, string> = {
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be opened: Liminal lacks the permission',
  EPERM: 'may not be opened: Liminal lacks the permission',
};

/** Tells the agent why a file could not be opened. */
function refusal(path: string, error: unknown): ClientError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'ENOENT' || code === 'ENOTDIR') return missingFile(path);
  return invalidParams(`“${path}” ${problems[code] ?? 'cannot be opened'} (${code}).`);
}

async function makeFolder(folder: string, path: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw invalidParams(`The folder of “${path}” cannot be made (${code}).`);
  }
}

const isHidden = (path: string): Error =>
  invalidParams(`“${path}” belongs to Liminal itself: its data folder is not read or changed.`);

const tooLarge = (path: string): Error =>
  invalidParams(`“${path}” is larger than ${maxFileBytes / 1024 / 1024} MiB.`);

/** The agent could not write a binary file back as it was. */
function asText(content: Buffer, path: string): string {
  if (isUtf8(content) && !content.includes(0)) return content.toString('utf8');
  throw invalidParams(`“${path}” is not a text file in UTF-8.`);
}

function cut(content: string, line: number, limit: number | undefined): string {
  if (line <= 1 && limit === undefined) return content;
  const first = Math.max(line, 1) - 1;
  const lines = content.split('\n');
  return lines.slice(first, limit === undefined ? undefined : first + limit).join('\n');
}
