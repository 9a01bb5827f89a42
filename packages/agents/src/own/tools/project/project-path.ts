/**
 * Resolves the paths that a model wrote, and opens the files. Nothing outside of the project folder is ever accessed:
 * not through `..`, not through links, and not through a link that replaces a folder between the check and the use. On
 * Linux, each step opens a folder or file inside an open folder (`/proc/self/fd/N/name`) without following links. On
 * other systems, an opened file is checked again before it is used.
 */
import { headOf } from '@liminal/protocol';
import { constants, existsSync, lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { HiddenFolders } from '../../../base/hidden-folders.ts';
import { ToolError } from '../tool-error.ts';

/** A file or folder in the project. */
export interface ProjectPlace {
  /** The path that the model wrote, shortened, for messages. */
  asked: string;
  /** The path after all links were resolved. It may not exist. */
  real: string;
  /**
   * The real path of the session's folder that contains this file or folder: the project folder or an additional
   * folder.
   */
  root: string;
  /** The path relative to `root`, with slashes; '' for `root` itself. */
  name: string;
  /** The path for people and models: relative if it is in the project folder, absolute in other folders. */
  shown: string;
  /** Folders that the tools do not access. */
  hidden: HiddenFolders;
}

/** The longest path (bytes), as on Linux. */
const maxPathBytes = 4_096;

/** Whether open folders can be accessed through their descriptor: `/proc` exists and contains this process. */
const hasDescriptorPaths =
  process.platform === 'linux' &&
  existsSync('/proc/self/fd') &&
  readlinkSync('/proc/self') === String(process.pid);

/** The folders of a session. */
export interface Folders {
  /** The real path of the project folder; file tools access only the session's folders. */
  projectDir: string;
  /** Real paths of additional folders. */
  additionalDirectories?: readonly string[] | undefined;
}

/**
 * Resolves a path. Throws ToolError if the path leads out of the session's folders, or into a hidden folder. This
 * function only checks: use `openFile` and `openFolder` to access the file or folder safely.
 */
export function findPlace(
  { projectDir, additionalDirectories = [] }: Folders,
  asked: string,
  hidden: HiddenFolders,
): ProjectPlace {
  if (asked.includes('\0')) throw new ToolError('A path must not contain a NUL character.');
  if (/^~[\w.-]*($|\/)/.test(asked)) {
    throw new ToolError(
      `“${shortened(asked)}” would be in a home folder. Only files of the project can be used; for a file with this very name, use “./${shortened(asked)}”.`,
    );
  }
  if (Buffer.byteLength(asked) > maxPathBytes) {
    throw new ToolError(`A path of ${asked.length} characters is too long.`);
  }
  const project = realpathSync.native(projectDir);
  // An absolute path may contain a link to the project folder instead of its real path.
  const real = realPathOf(resolve(project, asked), asked);
  const holds = (folder: string): boolean => !isOutside(relative(folder, real));
  // If a link has replaced an additional folder, the folder is not accessible any more.
  const root = [project, ...additionalDirectories.filter(isReal)].find(holds);
  if (root === undefined) throw leadsOut(asked, additionalDirectories);
  if (hidden.hides(real)) throw isHidden(shortened(asked));
  const name = relative(root, real);
  return {
    asked: shortened(asked),
    real,
    root,
    name,
    shown: root === project ? name : real,
    hidden,
  };
}

const isOutside = (name: string): boolean =>
  name === '..' || name.startsWith('../') || isAbsolute(name);

/** Returns the path, for people and models, of another file in the same folder of the session. */
export const shownIn = (place: ProjectPlace, name: string): string =>
  place.shown === place.name ? name : join(place.root, name);

function isReal(folder: string): boolean {
  try {
    return realpathSync.native(folder) === folder;
  } catch {
    return false;
  }
}

function leadsOut(asked: string, beside: readonly string[]): ToolError {
  const others = beside.length === 0 ? '' : `, or below ${beside.join(', ')},`;
  const message = `“${shortened(asked)}” leads out of the project folder. Only files of the project${others} can be used.`;
  return new ToolError(message);
}

const isHidden = (asked: string): ToolError =>
  new ToolError(
    `“${asked}” belongs to Liminal itself. No tool reads or changes the files of its data folder.`,
  );

/** Resolves the links in the existing part of a path. */
function realPathOf(path: string, asked: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw fileProblem(error, shortened(asked));
    if (code === 'ENOENT' && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new ToolError(`“${shortened(asked)}” goes through a broken link.`);
    }
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent, asked), basename(path));
  }
}

/** Rejects a path from which git runs programs, because a model that writes there could run any program. */
export function refuseGit({ asked, name }: ProjectPlace): void {
  // Some file systems treat different forms of a letter as equal, or ignore invisible characters.
  const plain = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  if (plain.toLowerCase().split('/').includes('.git')) {
    throw new ToolError(`“${asked}” belongs to git itself. Use git by the tool bash instead.`);
  }
}

/**
 * An open folder of the project. The object refers to the same folder even if the folder's path later leads elsewhere.
 */
export class OpenFolder {
  readonly real: string;
  readonly hidden: HiddenFolders;
  readonly #handle: FileHandle;
  readonly #byNumber: boolean;

  constructor(real: string, hidden: HiddenFolders, handle: FileHandle, byNumber: boolean) {
    this.real = real;
    this.hidden = hidden;
    this.#handle = handle;
    this.#byNumber = byNumber;
  }

  /**
   * The path of the folder itself. The path contains the id of this process, so that a child process can also use it.
   */
  get path(): string {
    return this.#byNumber ? `/proc/${process.pid}/fd/${this.#handle.fd}` : this.real;
  }

  /** Returns the path of an entry of the folder; the entry may itself be a link. */
  at(name: string): string {
    return join(this.path, name);
  }

  /**
   * Throws unless the path at which the folder was found still leads to the folder. If the check succeeds, files that
   * were opened in the folder before the check are the right files.
   */
  async check(asked: string): Promise<void> {
    const look = this.#byNumber ? readlink(this.path) : realpath(this.real);
    const now = await look.catch(() => undefined);
    if (now !== this.real) throw changed(asked);
    if (!this.#byNumber) await refuseOther(this.#handle, this.real, asked);
  }

  /** Throws unless this open file is still the folder's entry with this name. */
  async checkFile(file: FileHandle, name: string, asked: string): Promise<void> {
    await this.check(asked);
    if (this.#byNumber) return;
    await refuseOther(file, this.at(name), asked);
    await this.check(asked);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function refuseOther(held: FileHandle, path: string, asked: string): Promise<void> {
  const [one, other] = await Promise.all([held.stat(), lstat(path).catch(() => undefined)]);
  if (one.ino !== other?.ino || one.dev !== other.dev) throw changed(asked);
}

const changed = (asked: string): ToolError =>
  new ToolError(`“${asked}” was moved while it was used. Try again.`);

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a folder; the caller must close it.
 * @param options.make - Whether to create missing folders.
 * @param options.byNumber - For tests: false for the way of other systems than Linux.
 */
export async function openFolder(
  { asked, root, name, hidden }: ProjectPlace,
  { make = false, byNumber = hasDescriptorPaths } = {},
): Promise<OpenFolder> {
  if (hidden.hides(join(root, name))) throw isHidden(asked);
  let folder = new OpenFolder(root, hidden, await opened(root, asked), byNumber);
  try {
    for (const part of name.split('/').filter((one) => one !== '')) {
      if (make) await makeOne(folder.at(part), asked);
      const handle = await opened(folder.at(part), asked);
      const outer = folder;
      folder = new OpenFolder(join(outer.real, part), hidden, handle, byNumber);
      await outer.close();
    }
    await folder.check(asked);
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

async function opened(path: string, asked: string): Promise<FileHandle> {
  try {
    return await open(path, folderFlags);
  } catch (error) {
    if (codeOf(error) === 'ELOOP') throw changed(asked);
    throw fileProblem(error, asked);
  }
}

async function makeOne(path: string, asked: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw fileProblem(error, asked);
  }
}

/** Opens the parent folder of a file or folder; the caller must close it. */
export async function openParent(
  place: ProjectPlace,
  options: { make?: boolean; byNumber?: boolean } = {},
): Promise<OpenFolder> {
  if (place.name === '') throw new ToolError(`“${place.asked}” is a folder, not a file.`);
  const parent = { ...place, name: dirname(place.name).replace(/^\.$/, '') };
  return openFolder(parent, options);
}

export interface OpenFile {
  handle: FileHandle;
  stat: Stats;
}

/**
 * Opens a regular file for reading; the caller must close it. Pipes and devices are rejected without waiting for them.
 */
export async function openFile(
  place: ProjectPlace,
  options: { byNumber?: boolean } = {},
): Promise<OpenFile> {
  const parent = await openParent(place, options);
  try {
    return await openIn(parent, basename(place.name), place.asked);
  } finally {
    await parent.close();
  }
}

/** Opens a regular file in an open folder for reading; the caller must close it. */
export async function openIn(folder: OpenFolder, name: string, asked: string): Promise<OpenFile> {
  const path = folder.at(name);
  let handle: FileHandle | undefined;
  try {
    // The file is checked before it is opened, because opening some devices has an effect.
    refuseOthers(await lstat(path), asked);
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await handle.stat();
    refuseOthers(found, asked);
    await folder.checkFile(handle, name, asked);
    if (await folder.hidden.hasFile(found)) throw isHidden(asked);
    return { handle, stat: found };
  } catch (error) {
    await handle?.close();
    if (codeOf(error) === 'ELOOP') throw changed(asked);
    throw error instanceof ToolError ? error : fileProblem(error, asked);
  }
}

/** Throws ToolError unless the entry is a regular file. */
export function refuseOthers(found: Stats, asked: string): void {
  if (found.isFile()) return;
  if (found.isDirectory()) throw new ToolError(`“${asked}” is a folder, not a file.`);
  // The links of the path were resolved before, so this link was created after that.
  if (found.isSymbolicLink()) throw changed(asked);
  throw new ToolError(`“${asked}” is not a file, but a pipe, a socket or a device.`);
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

const problems: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder, or a part of its path is not',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be used: the permission is missing',
  EPERM: 'may not be used: the permission is missing',
  ENAMETOOLONG: 'has a name that is too long',
  ELOOP: 'goes through a circle of links',
  ENOSPC: 'does not fit on the disk',
  EROFS: 'is on a read-only disk',
  ENXIO: 'is not a file, but a pipe, a socket or a device',
};

/**
 * Converts a system error to an explanation for the model. An error without a code is a fault of Liminal, and is
 * returned unchanged.
 */
export function fileProblem(error: unknown, asked: string): Error {
  const code = codeOf(error);
  const problem = code === undefined ? undefined : (problems[code] ?? `cannot be used (${code})`);
  if (problem !== undefined) return new ToolError(`“${asked}” ${problem}.`, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

const shortened = (text: string): string => (text.length > 200 ? `${headOf(text, 200)}…` : text);
