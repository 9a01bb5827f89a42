/** Reads whole text files of the project to change them, and replaces their text. */
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { thrownMessage } from '@liminal/protocol';
import type { ClientFiles } from '../../../contract/client-files.ts';
import { ToolError } from '../tool-error.ts';
import {
  codeOf,
  fileProblem,
  openIn,
  openParent,
  refuseGit,
  refuseOthers,
  type OpenFolder,
  type ProjectPlace,
} from './project-path.ts';

/** The largest text that is changed as a whole (bytes). */
export const maxTextBytes = 16 * 1024 * 1024;

/** A text file with its text and state when it was read. */
export interface FoundText {
  /** The text, including the byte order mark if the file begins with one. */
  text: string;
  /** The state of the file on the disk; undefined if the file is only in a client. */
  stat: Stats | undefined;
}

/**
 * Returns the text that a client has for a file, or else the text on the disk; undefined if the file does not exist.
 * Rejects with ToolError if the file is not UTF-8 text, or too large.
 */
export async function readText(
  place: ProjectPlace,
  files?: ClientFiles,
): Promise<FoundText | undefined> {
  return (await unsavedText(place, files)) ?? savedText(place);
}

/**
 * Returns the text that a client has for a file, if the text differs from the text on the disk. Rejects as `readText`
 * does.
 */
export async function unsavedText(
  place: ProjectPlace,
  files: ClientFiles | undefined,
): Promise<FoundText | undefined> {
  const text = await files?.read(place.real);
  if (text === undefined) return undefined;
  const saved = await savedText(place);
  if (saved !== undefined && isSameText(text, saved.text)) return undefined;
  if (Buffer.byteLength(text) > maxTextBytes) throw tooLarge(place.asked);
  return { text, stat: saved?.stat };
}

/**
 * Compares a client's text with the text on the disk. Ignores the byte order mark and line ends, because editors change
 * both.
 */
function isSameText(text: string, saved: string): boolean {
  const plain = (one: string): string => one.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  return plain(text) === plain(saved);
}

async function savedText(place: ProjectPlace): Promise<FoundText | undefined> {
  try {
    const folder = await openParent(place);
    try {
      return await readTextFrom(folder, place);
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (error instanceof ToolError && codeOf(error.cause) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readTextFrom(folder: OpenFolder, { asked, name }: ProjectPlace): Promise<FoundText> {
  const { handle, stat } = await openIn(folder, basename(name), asked);
  try {
    if (stat.size > maxTextBytes) throw tooLarge(asked);
    const bytes = await handle.readFile();
    if (!isUtf8(bytes) || bytes.includes(0)) {
      throw new ToolError(`“${asked}” is not a text file in UTF-8: it cannot be changed here.`);
    }
    return { text: bytes.toString('utf8'), stat };
  } finally {
    await handle.close();
  }
}

const tooLarge = (asked: string): ToolError =>
  new ToolError(`“${asked}” is larger than ${maxTextBytes / 1024 / 1024} MiB.`);

/**
 * Replaces a file's text. If a client offers to write files, the client writes the file; otherwise the file on the disk
 * is replaced atomically, so that a reader gets either the old or the new text. The file's mode does not change.
 * @param found - The file from which the new text was made; undefined if the file did not exist. Rejects with ToolError
 * if the file has changed since then.
 */
export async function putText(
  place: ProjectPlace,
  text: string,
  found: FoundText | undefined,
  files?: ClientFiles,
): Promise<void> {
  const { asked, name, real } = place;
  refuseGit(place);
  if (Buffer.byteLength(text) > maxTextBytes) {
    throw new ToolError(`A text of more than ${maxTextBytes / 1024 / 1024} MiB cannot be written.`);
  }
  const before = found?.stat;
  if (before !== undefined && (before.mode & 0o222) === 0) {
    throw new ToolError(`“${asked}” is read-only.`);
  }
  const folder = await openParent(place, { make: before === undefined });
  const target = folder.at(basename(name));
  const temporary = folder.at(`.liminal-${randomUUID()}`);
  try {
    if (await files?.write(real, text).catch(throwToolError)) return;
    await writeNew(temporary, text, before);
    await folder.check(asked);
    await refuseChanged(target, place, before);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error instanceof ToolError ? error : fileProblem(error, asked);
  } finally {
    await folder.close();
  }
}

function throwToolError(error: unknown): never {
  throw new ToolError(thrownMessage(error), { cause: error });
}

async function writeNew(path: string, text: string, before: Stats | undefined): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  // Until the new file gets the mode of the file that it replaces, other users must not be able to read it.
  const handle = await open(path, flags, before === undefined ? 0o666 : 0o600);
  try {
    await handle.writeFile(text);
    if (before === undefined) return;
    const { uid, gid } = await handle.stat();
    // Only a superuser may set another owner; if another user writes the file, that user is the owner anyway.
    if (uid !== before.uid || gid !== before.gid) {
      await handle.chown(before.uid, before.gid).catch(() => undefined);
    }
    await handle.chmod(before.mode & 0o7777);
  } finally {
    await handle.close();
  }
}

/** Throws ToolError if the file on the disk was replaced after it was read. */
async function refuseChanged(
  target: string,
  { asked }: ProjectPlace,
  before: Stats | undefined,
): Promise<void> {
  const now = await lstat(target).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (now !== undefined) refuseOthers(now, asked);
  const same = (one: Stats, other: Stats): boolean =>
    one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs;
  const isSame = now === undefined || before === undefined ? now === before : same(now, before);
  if (!isSame) throw new ToolError(`“${asked}” has just been changed by others. Read it again.`);
}
