import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { contains } from '@liminal/agents';
import { mayBeShown, openShown, type FileScope } from '../shown-files.ts';

/** A file of the work tree in the form in which git would store it, except for filters. */
export interface WorkFile {
  mode: string;
  /** The id that git would give the content; undefined for a very large file. */
  id?: string | undefined;
  /** Undefined for a large file. */
  content?: Buffer | undefined;
}

/** `gone`: the file does not exist for git. `hidden`: the file must not be shown. */
export type WorkFileState = WorkFile | 'gone' | 'hidden' | 'unreadable' | 'folder';

interface WorkTreeScope extends FileScope {
  /** The real path of the work tree's top. */
  top: string;
  algorithm: string;
}

/** The largest content that is kept, in bytes. */
export const contentMax = 1024 * 1024;
/** The largest file that is read for a comparison, in bytes. */
const comparedMax = 64 * 1024 * 1024;
const piece = 256 * 1024;

/** Reads a path of the work tree. No symbolic link in the path is followed. */
export async function readWorkFile(path: string, scope: WorkTreeScope): Promise<WorkFileState> {
  const { top, algorithm } = scope;
  const full = join(top, path);
  if (!contains(top, full) || full === top) return 'hidden';
  const parent = await realpath(dirname(full)).catch(() => undefined);
  // A link leads to another folder, so the file at this path in git no longer exists.
  if (parent !== dirname(full)) return mayBeShown(full, scope) ? 'gone' : 'hidden';
  if (!mayBeShown(full, scope)) return 'hidden';
  const found = await lstat(full).catch(() => undefined);
  if (found === undefined) return 'gone';
  if (found.isDirectory()) return 'folder';
  if (found.isSymbolicLink()) {
    const content = await readlink(full, { encoding: 'buffer' }).catch(() => undefined);
    if (content === undefined) return 'unreadable';
    return { mode: '120000', id: blobId(content, algorithm), content };
  }
  try {
    const { file, opened } = await openShown(path, full, scope);
    try {
      const mode = (opened.mode & 0o100) === 0 ? '100644' : '100755';
      return { mode, ...(await readContent(file, opened.size, algorithm)) };
    } finally {
      await file.close();
    }
  } catch (error) {
    return isCode(error, 'FILE_NOT_ALLOWED') ? 'hidden' : 'unreadable';
  }
}

/** Returns git's id of a content. */
export function blobId(content: Buffer, algorithm: string): string {
  return startId(content.length, algorithm).update(content).digest('hex');
}

const startId = (size: number, algorithm: string): Hash =>
  createHash(algorithm).update(`blob ${size}\0`);

async function readContent(
  file: FileHandle,
  size: number,
  algorithm: string,
): Promise<Pick<WorkFile, 'id' | 'content'>> {
  if (size > comparedMax) return {};
  const hash = startId(size, algorithm);
  const chunks: Buffer[] = [];
  let at = 0;
  while (at <= comparedMax) {
    const buffer = Buffer.alloc(Math.min(piece, Math.max(size - at, 0) + 1));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) break;
    const part = buffer.subarray(0, bytesRead);
    hash.update(part);
    at += bytesRead;
    if (at <= contentMax) chunks.push(part);
  }
  return { id: hash.digest('hex'), ...(at <= contentMax && { content: Buffer.concat(chunks) }) };
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
