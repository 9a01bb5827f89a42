import {
  type FileHandle,
  constants,
  lstat,
  open,
  readlink,
  realpath,
  stat,
} from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { contains } from '@liminal/agents';
import { type FileResult, imageType } from '@liminal/protocol';
import { RuntimeError } from '../errors.ts';
import type { Roots } from '../roots.ts';

/** Only the first part of a longer text is shown (bytes). */
export const TEXT_MAX = 2 * 1024 * 1024;
/** The content of a bigger image is left out (bytes). */
export const IMAGE_MAX = 8 * 1024 * 1024;
/** How much of a file's start decides whether it is text (bytes), as in git. */
const START = 8000;

/** Virtual file systems: their files contain secrets of processes, and may be endless. */
const made = ['/proc', '/sys', '/dev'];

/** The folders that shown files may be in: the session's project folder, and the allowed roots. */
export interface Place {
  projectDir: string;
  roots: Pick<Roots, 'holds' | 'hides' | 'hidesFile'>;
}

/**
 * Reads a file of a session's project for showing: regular files only; symbolic links are followed and checked. `path`
 * is absolute, below the home folder (`~/`), or relative to the project folder. Throws `FILE_NOT_ALLOWED`,
 * `FILE_NOT_FOUND`, `FILE_UNREADABLE`.
 */
export async function readProjectFile(path: string, place: Place): Promise<FileResult> {
  if (path.includes('\0')) throw notFound(path);
  const named = resolve(place.projectDir, path.replace(/^~(?=\/)/, homedir()));
  const real = await realpath(named).catch(() => undefined);
  // A path outside gets the same answer whether or not it exists, so that the answer reveals nothing about it.
  if (!mayBeShown(real ?? (await wouldBe(named)), place)) throw notAllowed(path);
  if (real === undefined) throw notFound(path);
  // Checked before opening: opening a device can have effects.
  const found = await stat(real).catch(() => undefined);
  if (found === undefined) throw notFound(path);
  if (!found.isFile()) throw unreadable(path, 'is not a file with content to show');
  const file = await openThere(path, real);
  try {
    // Checked again after opening: the path may lead elsewhere now.
    if (!mayBeShown(await whereIs(file, real), place)) throw notAllowed(path);
    const opened = await file.stat();
    if (await place.roots.hidesFile(opened)) throw notAllowed(path);
    const { size, mtimeMs } = opened;
    const content = await readContent(file, real, size);
    return { path: real, size, modifiedAt: new Date(mtimeMs).toISOString(), ...content };
  } finally {
    await file.close();
  }
}

/** Opens a regular file without following a link or blocking on a pipe. */
async function openThere(path: string, real: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  const file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY).catch((error) => {
    throw unreadable(path, 'cannot be read by the server', error);
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw unreadable(path, 'is not a file with content to show');
}

/**
 * The real path of an open file; undefined if unknown. Linux reports it; elsewhere the path is compared with the file.
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

/** The real path that a path would have, if only its first part exists. */
async function wouldBe(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return path;
  const real = await realpath(parent).catch(() => undefined);
  return join(real ?? (await wouldBe(parent)), basename(path));
}

/** Whether the file at a real path may be shown, or named. */
export function mayBeShown(real: string | undefined, { projectDir, roots }: Place): real is string {
  if (real === undefined || made.some((folder) => contains(folder, real))) return false;
  return !roots.hides(real) && (contains(projectDir, real) || roots.holds(real));
}

type Content =
  | Pick<Extract<FileResult, { kind: 'text' }>, 'kind' | 'text' | 'isCut'>
  | Pick<Extract<FileResult, { kind: 'image' }>, 'kind' | 'mimeType' | 'data'>
  | Pick<Extract<FileResult, { kind: 'binary' }>, 'kind'>;

async function readContent(file: FileHandle, path: string, size: number): Promise<Content> {
  const start = await readUpTo(file, 0, START);
  const mimeType = typeOfImage(start, path);
  if (mimeType !== undefined) {
    if (size > IMAGE_MAX) return { kind: 'binary' };
    const rest = await readUpTo(file, start.length, IMAGE_MAX - start.length);
    return { kind: 'image', mimeType, data: Buffer.concat([start, rest]).toString('base64') };
  }
  if (start.includes(0)) return { kind: 'binary' };
  const rest = await readUpTo(file, start.length, TEXT_MAX + 1 - start.length);
  const bytes = Buffer.concat([start, rest]);
  const isCut = bytes.length > TEXT_MAX;
  // A character that is cut in the middle is left out.
  const text = new TextDecoder().decode(bytes.subarray(0, TEXT_MAX), { stream: isCut });
  return { kind: 'text', text, isCut };
}

/** Reads up to a number of bytes or the end. The stated size is not trusted: a file can grow while it is read. */
async function readUpTo(file: FileHandle, position: number, length: number): Promise<Buffer> {
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

function notAllowed(path: string): RuntimeError {
  return new RuntimeError(
    'FILE_NOT_ALLOWED',
    `${path} lies outside the project and the folders that sessions may work in, so it is not shown here.`,
  );
}

function notFound(path: string): RuntimeError {
  return new RuntimeError('FILE_NOT_FOUND', `There is no file ${path.replaceAll('\0', '␀')}.`);
}

function unreadable(path: string, why: string, cause?: unknown): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${path} ${why}.`, { cause });
}

function typeOfImage(start: Buffer, path: string): string | undefined {
  // SVG has no fixed first bytes.
  if (/\.svg$/i.test(path) && /<svg[\s>]/.test(start.toString('latin1'))) return 'image/svg+xml';
  return imageType(start);
}
