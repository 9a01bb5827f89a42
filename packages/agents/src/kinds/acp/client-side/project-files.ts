import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, realpath, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { thrownMessage } from '@liminal/protocol';
import type { ClientFiles } from '../../../contract/client-files.ts';
import { HiddenFolders } from '../../../base/hidden-folders.ts';
import { type ClientError, clientRefused, invalidParams, missingFile } from './client-error.ts';

/** The largest file that is read or written (bytes). */
const maxFileBytes = 16 * 1024 * 1024;
/** The longest path (bytes): Linux accepts no longer path, and each folder of a path costs a look-up. */
const maxPathBytes = 4_096;

interface ProjectFilesOptions {
  /** Further folders whose files are read and written. */
  additionalDirectories?: readonly string[] | undefined;
  /** The files that our clients have open. */
  clients?: ClientFiles | undefined;
  /** Folders whose files are neither read nor written. */
  hiddenFolders?: HiddenFolders | undefined;
}

interface ReadRequest {
  path: string;
  /** The first line; lines count from 1. */
  line?: number | null;
  /** How many lines to read. */
  limit?: number | null;
}

/**
 * Reads and writes text files in a session's folders for an agent. A path that leads outside these folders, even
 * through a link, is refused. A file that is open in a client, such as an editor, is read and written by that client.
 */
export class ProjectFiles {
  readonly #projectDir: string;
  readonly #additionalDirectories: readonly string[];
  readonly #clients: ClientFiles | undefined;
  readonly #hidden: HiddenFolders;

  constructor(projectDir: string, options: ProjectFilesOptions = {}) {
    const { clients, hiddenFolders, additionalDirectories = [] } = options;
    this.#projectDir = projectDir;
    this.#additionalDirectories = additionalDirectories;
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
      return {
        content: sliceLines(asText(await file.readFile(), path), line ?? 1, limit ?? undefined),
      };
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
    if (await this.#clients?.write(real, content).catch(throwClientRefused)) return {};
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

  /** Returns the real path of a file. The file need not exist. */
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
      const names = [folder, ...this.#additionalDirectories].join(', or ');
      throw invalidParams(`“${path}” is not a file inside ${names}.`);
    }
    if (this.#hidden.hides(real)) throw hiddenFileError(path);
    // Check before the file is opened here: if a client has the file open, the client reads and writes the file, and
    // the later checks do not run.
    await this.#refuseHidden(await lstat(real).catch(() => undefined), path);
    return real;
  }

  async #holds(real: string): Promise<boolean> {
    const beside = this.#additionalDirectories.map(async (each) =>
      realpath(each).catch(() => undefined),
    );
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
    if (found !== undefined && (await this.#hidden.hasFile(found))) throw hiddenFileError(path);
  }
}

function throwClientRefused(error: unknown): never {
  throw clientRefused(thrownMessage(error));
}

/** Resolves the links in the existing part of a path. */
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
    // The path is resolved, so a link here is new and must not be followed. Opening a pipe must not block.
    return await open(real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o666);
  } catch (error) {
    throw openError(path, error);
  }
}

const problems: Record<string, string> = {
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be opened: Liminal lacks the permission',
  EPERM: 'may not be opened: Liminal lacks the permission',
};

/** Returns the agent's error: why a file could not be opened. */
function openError(path: string, error: unknown): ClientError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'ENOENT' || code === 'ENOTDIR') return missingFile(path);
  return invalidParams(`“${path}” ${problems[code] ?? 'cannot be opened'} (${code}).`);
}

async function makeFolder(folder: string, path: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw invalidParams(`The folder of “${path}” cannot be created (${code}).`);
  }
}

const hiddenFileError = (path: string): Error =>
  invalidParams(`“${path}” belongs to Liminal itself: its data folder is not read or changed.`);

const tooLarge = (path: string): Error =>
  invalidParams(`“${path}” is larger than ${maxFileBytes / 1024 / 1024} MiB.`);

/** Rejects binary files: the agent could not write the bytes back unchanged. */
function asText(content: Buffer, path: string): string {
  if (isUtf8(content) && !content.includes(0)) return content.toString('utf8');
  throw invalidParams(`“${path}” is not a text file in UTF-8.`);
}

function sliceLines(content: string, line: number, limit: number | undefined): string {
  if (line <= 1 && limit === undefined) return content;
  const first = Math.max(line, 1) - 1;
  const lines = content.split('\n');
  return lines.slice(first, limit === undefined ? undefined : first + limit).join('\n');
}
