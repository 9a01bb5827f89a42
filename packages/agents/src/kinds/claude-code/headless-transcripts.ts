/**
 * Lists transcripts whose beginning is missing, because the SDK lists only transcripts that begin with a user's
 * message.
 */
import { open, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { BoundedMap, headOf } from '@liminal/protocol';
import { z } from 'zod';
import { parseLine } from '../../base/parse-line.ts';
import type { StoredSession } from '../../contract/provider.ts';
import { isSummaryText, messageText } from './translate/transcript.ts';

/** How much of a file is read, in bytes. */
const headSize = 64 * 1024;
const titleLength = 200;

const TranscriptLine = z.looseObject({
  type: z.string(),
  message: z.unknown().optional(),
  cwd: z.string().optional().catch(undefined),
  timestamp: z.iso.datetime().optional().catch(undefined),
  isSidechain: z.boolean().optional().catch(undefined),
});

type Head = Pick<StoredSession, 'projectDir' | 'title' | 'createdAt'>;

/** The heads of transcripts by path, each with the file's size when its head was read. */
const heads = new BoundedMap<string, { size: number; head: Head | undefined }>(2_000);

/** Returns the sessions without a beginning that `listed` lacks, of one folder or of all folders. */
export async function listHeadless(
  listed: readonly StoredSession[],
  projectDir?: string,
): Promise<StoredSession[]> {
  const known = new Set(listed.map(({ sessionId }) => sessionId));
  const root = join(process.env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude'), 'projects');
  const found: StoredSession[] = [];
  for (const folder of await readdir(root).catch((): string[] => [])) {
    for (const name of await readdir(join(root, folder)).catch((): string[] => [])) {
      const sessionId = uuidFile.exec(name)?.[1];
      if (sessionId === undefined || known.has(sessionId)) continue;
      const session = await readHeadless(sessionId, join(root, folder, name));
      if (session && (projectDir ?? session.projectDir) === session.projectDir) found.push(session);
    }
  }
  return found;
}

const uuidFile = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/;

/**
 * Reads a session's head. Returns undefined if the file's beginning is not missing, or if the file has no message or
 * does not name the session's folder.
 */
export async function readHeadless(
  sessionId: string,
  path: string,
): Promise<StoredSession | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  let known = heads.get(path);
  if (known?.size !== stats.size) {
    known = { size: stats.size, head: await readHead(path).catch(() => undefined) };
    heads.set(path, known);
  }
  const { head } = known;
  const updatedAt = stats.mtime.toISOString();
  return head && { sessionId, ...head, createdAt: head.createdAt || updatedAt, updatedAt };
}

async function readHead(path: string): Promise<Head | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(headSize) });
    for (const line of buffer.toString('utf8', 0, bytesRead).split('\n')) {
      const entry = TranscriptLine.safeParse(parseLine(line)).data;
      if (entry === undefined || (entry.type !== 'user' && entry.type !== 'assistant')) continue;
      const words = messageText(entry);
      const isBeginning = entry.type === 'user' && !isSummaryText(words);
      if (isBeginning || entry.isSidechain === true || !entry.cwd) return undefined;
      const title = entry.type === 'user' ? 'A conversation without its beginning' : words;
      const { cwd: projectDir, timestamp: createdAt = '' } = entry;
      return { projectDir, title: headOf(title, titleLength), createdAt };
    }
    return undefined;
  } finally {
    await file.close();
  }
}
