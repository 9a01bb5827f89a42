import { BoundedMap } from '@liminal/protocol';
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type GrowingFile, readAppendedLines } from '../../base/appended-lines.ts';

const TranscriptLine = z.looseObject({
  type: z.string(),
  uuid: z.string().optional(),
  parentUuid: z.string().nullish(),
  leafUuid: z.string().optional(),
  isMeta: z.boolean().optional(),
  message: z.looseObject({ content: z.unknown() }).optional(),
});
type TranscriptLine = z.infer<typeof TranscriptLine>;

const Blocks = z.array(z.looseObject({ type: z.string() }));

/**
 * How many sessions (`maxScans`), sent messages, and entries of one file are remembered. The file of a forgotten
 * session is read again.
 */
const maxScans = 200;
const maxSent = 1_000;
const maxEntries = 1_000;

interface Scan extends GrowingFile {
  /** The last entries by id: the value is true if the entry belongs to a turn that this server sent. */
  own: BoundedMap<string, boolean>;
  /** The number of entries that other programs wrote. */
  foreign: number;
  /** The position that a process recorded last, or `here` if the position is in a turn that this server sent. */
  leaf: string;
}

/**
 * Detects whether a program other than this server's Claude Code has written to a session's file. Reads only the text
 * that was added since the last call; the SDK would read the whole file, which takes a second for ten megabytes.
 */
export class TranscriptMarks {
  readonly #scans = new BoundedMap<string, Scan>(maxScans);
  /** Ids of messages that this server sent. */
  readonly #sent = new BoundedMap<string, true>(maxSent);

  noteSent(turnId: string): void {
    this.#sent.set(turnId, true);
  }

  /**
   * Returns a mark that changes when another program writes to the session's file; undefined if there is no such
   * session.
   */
  async read(sessionId: string): Promise<string | undefined> {
    const path = this.#scans.get(sessionId)?.path ?? (await findFile(sessionId));
    if (path === undefined) return undefined;
    const size = (await stat(path).catch(() => undefined))?.size;
    if (size === undefined) return undefined;
    const known = this.#scans.get(sessionId);
    // If the file has become shorter, the file was rewritten: read it from the beginning.
    const scan =
      known && size >= known.offset
        ? known
        : {
            path,
            offset: 0,
            own: new BoundedMap<string, boolean>(maxEntries),
            foreign: 0,
            leaf: '',
          };
    this.#scans.set(sessionId, scan);
    await readAppendedLines(scan, size, (line) => this.#note(scan, line));
    return `${scan.foreign}:${scan.leaf}`;
  }

  #note(scan: Scan, text: string): void {
    const line = parseLine(text);
    if (line === undefined) return;
    if (line.type === 'last-prompt') scan.leaf = leafOf(scan, line.leafUuid ?? '');
    if (line.uuid === undefined) return;
    const isOwn =
      this.#sent.has(line.uuid) ||
      (!isPrompt(line) && scan.own.get(line.parentUuid ?? '') === true);
    scan.own.set(line.uuid, isOwn);
    if (!isOwn) scan.foreign += 1;
  }
}

/** Returns whether an entry is a user's message, not a tool's result or a message from Claude Code to its model. */
function isPrompt({ type, isMeta, message }: TranscriptLine): boolean {
  if (type !== 'user' || isMeta === true) return false;
  const content = message?.content;
  if (typeof content === 'string') return !content.startsWith('<task-notification>');
  return !Blocks.safeParse(content).data?.some((block) => block.type === 'tool_result');
}

const leafOf = ({ own }: Scan, leaf: string): string => (own.get(leaf) === true ? 'here' : leaf);

function parseLine(text: string): TranscriptLine | undefined {
  if (text === '') return undefined;
  try {
    return TranscriptLine.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Finds a session's file by the file's name in all project folders, because Claude Code derives the folders' names in
 * its own way. If several folders have such a file, returns the file of this project.
 */
export async function findFile(sessionId: string, projectDir = ''): Promise<string | undefined> {
  const root = join(process.env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude'), 'projects');
  const own = projectDir.replace(/[^a-zA-Z0-9]/g, '-');
  const folders = await readdir(root).catch((): string[] => []);
  for (const folder of folders.toSorted((a, b) => Number(b === own) - Number(a === own))) {
    const path = join(root, folder, `${sessionId}.jsonl`);
    if ((await stat(path).catch(() => undefined))?.isFile() === true) return path;
  }
  return undefined;
}
