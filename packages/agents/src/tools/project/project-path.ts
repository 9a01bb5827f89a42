/**
 * Where a path leads that a model wrote, and opening it so that nothing outside of the project folder is ever reached:
 * not by `..`, not by links, nor by links that take a folder's place between the look and the use. On Linux every step
 * goes from one open folder to the next (`/proc/self/fd/N/name`) and follows no link; elsewhere what was opened is
 * looked at again before it is used.
 */
import { headOf } from '@liminal/protocol';
import { constants, existsSync, lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { HiddenFolders } from '../../hidden-folders.ts';
import { ToolError } from '../tool-error.ts';

/** A place in the project. */
export interface ProjectPlace {
  /** As the model wrote it, for messages; shortened. */
  asked: string;
  /** Its real path: no part of it is a link. It may not exist. */
  real: string;
  /** The real path of the folder that it lies in: the project's, or one beside it. */
  root: string;
  /** The place from that folder on, with slashes; empty for the folder itself. */
  name: string;
  /** What people and models call it: its name in the project folder, and a whole path in other folders. */
  shown: string;
  /** Folders that nothing is reached in. */
  hidden: HiddenFolders;
}

/** Longer paths are no paths (bytes); Linux takes none either. */
const maxPathBytes = 4_096;

/** Whether open folders can be reached by their number: `/proc` is there and shows this very process. */
const hasDescriptorPaths =
  process.platform === 'linux' &&
  existsSync('/proc/self/fd') &&
  readlinkSync('/proc/self') === String(process.pid);

/** The folders of a session. */
export interface Folders {
  /** Real path of the project's: nothing outside of the session's folders is read or changed by file tools. */
  projectDir: string;
  /** Real paths of those beside it. */
  additionalDirectories?: readonly string[] | undefined;
}

/**
 * Finds where a path leads. Throws ToolError for one that leads out of the session's folders, or into a hidden folder.
 * Only a look: what is done there goes by `openFile` and `openFolder`.
 */
export function findPlace(
  { projectDir, additionalDirectories = [] }: Folders,
  asked: string,
  hidden: HiddenFolders,
): ProjectPlace {
  if (asked.includes('\0')) throw new ToolError('A path cannot have a NUL character in it.');
  if (/^~[\w.-]*($|\/)/.test(asked)) {
    throw new ToolError(
      `“${shortened(asked)}” would be in a home folder. Only files of the project can be used; one that is really called so is “./${shortened(asked)}”.`,
    );
  }
  if (Buffer.byteLength(asked) > maxPathBytes) {
    throw new ToolError(`A path of ${asked.length} characters is too long.`);
  }
  const project = realpathSync.native(projectDir);
  // An absolute path may name the project folder by a link that leads to it.
  const real = realPathOf(resolve(project, asked), asked);
  const holds = (folder: string): boolean => !isOutside(relative(folder, real));
  // A folder that has become a link no longer counts.
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

/** What people and models call a file of the same folder of the session. */
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

/** Follows the links in what exists of a path. */
function realPathOf(path: string, asked: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw fileProblem(error, shortened(asked));
    if (code === 'ENOENT' && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new ToolError(`“${shortened(asked)}” goes through a link that leads nowhere.`);
    }
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent, asked), basename(path));
  }
}

/** Refuses a place that git runs programs from: whoever can write there can run what they like. */
export function refuseGit({ asked, name }: ProjectPlace): void {
  // Some file systems take these letters for the same ones, or leave out those that cannot be seen.
  const plain = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  if (plain.toLowerCase().split('/').includes('.git')) {
    throw new ToolError(`“${asked}” belongs to git itself. Use git by the tool bash instead.`);
  }
}

/** A folder of the project that is held open, wherever its name may lead by now. */
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

  /** A path to the folder itself. The number of this process is in it, so that it serves a child, too. */
  get path(): string {
    return this.#byNumber ? `/proc/${process.pid}/fd/${this.#handle.fd}` : this.real;
  }

  /** A path to what has this name in the folder; the name itself may be a link. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Throws unless the folder is still where it was found. What was opened before is then what was meant. */
  async check(asked: string): Promise<void> {
    const look = this.#byNumber ? readlink(this.path) : realpath(this.real);
    const now = await look.catch(() => undefined);
    if (now !== this.real) throw changed(asked);
    if (!this.#byNumber) await refuseOther(this.#handle, this.real, asked);
  }

  /** Throws unless this file, opened in the folder, is what has the name in it. */
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
  new ToolError(`“${asked}” was put elsewhere while it was used. Try again.`);

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a folder; the caller closes it.
 * @param options.make - Makes what is missing of it.
 * @param options.byNumber - For tests: how other systems do it.
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

/** Opens the folder that a place lies in; the caller closes it. */
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

/** Opens a regular file for reading; the caller closes it. Pipes and devices are refused without waiting for them. */
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

/** Opens a regular file in an open folder for reading; the caller closes it. */
export async function openIn(folder: OpenFolder, name: string, asked: string): Promise<OpenFile> {
  const path = folder.at(name);
  let handle: FileHandle | undefined;
  try {
    // Looked at before, because some devices do something when they are opened.
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

/** Throws for all but a regular file. */
export function refuseOthers(found: Stats, asked: string): void {
  if (found.isFile()) return;
  if (found.isDirectory()) throw new ToolError(`“${asked}” is a folder, not a file.`);
  // A link's target was looked up before: this one has just been put here.
  if (found.isSymbolicLink()) throw changed(asked);
  throw new ToolError(`“${asked}” is no file but a pipe, a socket or a device.`);
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

const problems: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is no folder, or goes through something that is none',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be used: the permission is missing',
  EPERM: 'may not be used: the permission is missing',
  ENAMETOOLONG: 'has a name that is too long',
  ELOOP: 'goes round in a circle of links',
  ENOSPC: 'does not fit on the disk',
  EROFS: 'lies on a disk that cannot be written',
  ENXIO: 'is no file but a pipe, a socket or a device',
};

/** Tells the model why the system did not do what was asked; what it does not know is a fault of ours. */
export function fileProblem(error: unknown, asked: string): Error {
  const code = codeOf(error);
  const problem = code === undefined ? undefined : (problems[code] ?? `cannot be used (${code})`);
  if (problem !== undefined) return new ToolError(`“${asked}” ${problem}.`, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

const shortened = (text: string): string => (text.length > 200 ? `${headOf(text, 200)}…` : text);
