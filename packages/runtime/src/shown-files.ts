/**
 * Decides which files may be shown to people. Opens such a file without following a link to a file that must not be
 * shown.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { contains } from '@liminal/agents';
import { errors } from './errors.ts';
import type { Roots } from './roots.ts';

/** Folders of virtual file systems: their files contain secrets of processes, and may be endless. */
const virtualFolders = ['/proc', '/sys', '/dev'];

/** The folders that shown files may be in: the session's project folder, and the allowed roots. */
export interface FileScope {
  projectDir: string;
  roots: Pick<Roots, 'holds' | 'hides' | 'hidesFile'>;
}

/** Returns whether the content and the path of the file at a real path may be shown. */
export function mayBeShown(
  real: string | undefined,
  { projectDir, roots }: FileScope,
): real is string {
  if (real === undefined || virtualFolders.some((folder) => contains(folder, real))) return false;
  return !roots.hides(real) && (contains(projectDir, real) || roots.holds(real));
}

/**
 * Opens the regular file at a real path that may be shown. The caller closes it.
 * @param path - The file's name in refusals.
 * @throws `FILE_NOT_ALLOWED`, `FILE_NOT_FOUND`, `FILE_UNREADABLE`.
 */
export async function openShown(
  path: string,
  real: string,
  scope: FileScope,
): Promise<{ file: FileHandle; opened: Stats }> {
  // Check before opening, because opening a device can have effects.
  const found = await stat(real).catch(() => undefined);
  if (found === undefined) throw errors.FILE_NOT_FOUND.missing(path);
  if (!found.isFile()) throw errors.FILE_UNREADABLE.noContent(path);
  const file = await openThere(path, real);
  try {
    // Check again after opening, because the path may lead to another file by now.
    if (!mayBeShown(await whereIs(file, real), scope)) throw errors.FILE_NOT_ALLOWED.outside(path);
    const opened = await file.stat();
    if (await scope.roots.hidesFile(opened)) throw errors.FILE_NOT_ALLOWED.outside(path);
    return { file, opened };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Opens a regular file without following a link or waiting for a pipe's writer. */
async function openThere(path: string, real: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  const file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY).catch((error) => {
    throw errors.FILE_UNREADABLE.refused(path, { cause: error });
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw errors.FILE_UNREADABLE.noContent(path);
}

/**
 * Returns the real path of an open file; undefined if the path is unknown. Linux reports the path; on other systems,
 * the file at the expected path is compared with the open file.
 */
async function whereIs(file: FileHandle, real: string): Promise<string | undefined> {
  if (process.platform === 'linux') {
    return readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  }
  const [opened, there, now] = await Promise.all([
    file.stat(),
    lstat(real).catch(() => undefined),
    realpath(real).catch(() => undefined),
  ]);
  const isSame = opened.ino === there?.ino && opened.dev === there.dev && now === real;
  return isSame ? real : undefined;
}

/**
 * Reads up to `length` bytes, or to the file's end; the file's stated size is not trusted, because a file can grow
 * while it is read.
 */
export async function readUpTo(
  file: FileHandle,
  position: number,
  length: number,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let at = 0;
  while (at < length) {
    const buffer = Buffer.alloc(Math.min(length - at, 256 * 1024));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position + at);
    if (bytesRead === 0) break;
    pieces.push(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return Buffer.concat(pieces);
}
