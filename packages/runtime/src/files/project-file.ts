import { type FileHandle, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { type FileResult, imageType } from '@liminal/protocol';
import { errors } from '../errors.ts';
import { mayBeShown, openShown, type FileScope, readUpTo } from '../shown-files.ts';

/** Only the first part of a longer text is shown (bytes). */
export const textMax = 2 * 1024 * 1024;
/** The content of a bigger image is left out (bytes). */
export const imageMax = 8 * 1024 * 1024;
/** How much of a file's start decides whether it is text (bytes), as in git. */
const startMax = 8000;

/**
 * Reads a file of a session's project for showing: regular files only; symbolic links are followed and checked. `path`
 * is absolute, below the home folder (`~/`), or relative to the project folder. Throws `FILE_NOT_ALLOWED`,
 * `FILE_NOT_FOUND`, `FILE_UNREADABLE`.
 */
export async function readProjectFile(path: string, scope: FileScope): Promise<FileResult> {
  if (path.includes('\0')) throw errors.FILE_NOT_FOUND.missing(path);
  const named = resolve(scope.projectDir, path.replace(/^~(?=\/)/, homedir()));
  const real = await realpath(named).catch(() => undefined);
  // A path outside gets the same answer whether or not it exists, so that the answer reveals nothing about it.
  if (!mayBeShown(real ?? (await wouldBe(named)), scope))
    throw errors.FILE_NOT_ALLOWED.outside(path);
  if (real === undefined) throw errors.FILE_NOT_FOUND.missing(path);
  const { file, opened } = await openShown(path, real, scope);
  try {
    const { size, mtimeMs } = opened;
    const content = await readContent(file, real, size);
    return { path: real, size, modifiedAt: new Date(mtimeMs).toISOString(), ...content };
  } finally {
    await file.close();
  }
}

/** Returns the real path that a path would have if it existed, for a path of which only the first part exists. */
async function wouldBe(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return path;
  const real = await realpath(parent).catch(() => undefined);
  return join(real ?? (await wouldBe(parent)), basename(path));
}

type FileContent =
  | Pick<Extract<FileResult, { kind: 'text' }>, 'kind' | 'text' | 'isCut'>
  | Pick<Extract<FileResult, { kind: 'image' }>, 'kind' | 'mimeType' | 'data'>
  | Pick<Extract<FileResult, { kind: 'binary' }>, 'kind'>;

async function readContent(file: FileHandle, path: string, size: number): Promise<FileContent> {
  const start = await readUpTo(file, 0, startMax);
  const mimeType = typeOfImage(start, path);
  if (mimeType !== undefined) {
    if (size > imageMax) return { kind: 'binary' };
    const rest = await readUpTo(file, start.length, imageMax - start.length);
    return { kind: 'image', mimeType, data: Buffer.concat([start, rest]).toString('base64') };
  }
  if (start.includes(0)) return { kind: 'binary' };
  const rest = await readUpTo(file, start.length, textMax + 1 - start.length);
  const bytes = Buffer.concat([start, rest]);
  const isCut = bytes.length > textMax;
  // If the limit cuts a character in two, the character is left out.
  const text = new TextDecoder().decode(bytes.subarray(0, textMax), { stream: isCut });
  return { kind: 'text', text, isCut };
}

function typeOfImage(start: Buffer, path: string): string | undefined {
  // SVG has no fixed first bytes.
  if (/\.svg$/i.test(path) && /<svg[\s>]/.test(start.toString('latin1'))) return 'image/svg+xml';
  return imageType(start);
}
