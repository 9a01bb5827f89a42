/** Lists the threads in Codex' own files, without a Codex process. */
import { BoundedMap } from '@liminal/protocol';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { parseLine } from '../../base/parse-line.ts';
import type { StoredSession } from '../../contract/provider.ts';

/** The most files that are read; the newest files are read first. */
const mostFiles = 1_000;
/** How many bytes are read from the start of a file. The first message comes after long instructions. */
const headSize = 256 * 1024;
/** Files that are read in parallel. */
const sideBySide = 16;

const Meta = z.looseObject({
  type: z.literal('session_meta'),
  payload: z.looseObject({
    id: z.string(),
    cwd: z.string(),
    timestamp: z.string(),
    /**
     * Only the sources from which people talk to Codex, not `exec`. The source of a subagent's thread is an object, and
     * so is not accepted.
     */
    source: z.enum(['cli', 'vscode', 'appServer', 'unknown']).default('cli'),
  }),
});

const InputPart = z.looseObject({ text: z.string().catch('') });

/** A user's message, in the form that Codex writes now. */
const Completed = z.looseObject({
  payload: z.looseObject({
    item: z.looseObject({ type: z.literal('UserMessage'), content: z.array(InputPart) }),
  }),
});
/** A user's message, in the form that earlier versions wrote. */
const UserMessage = z.looseObject({
  payload: z.looseObject({ type: z.literal('user_message'), message: z.string() }),
});

type ListedThread = Omit<StoredSession, 'updatedAt'>;

/** Lists threads by reading their files, and caches the results. */
export class ListedRollouts {
  readonly #folder: string;
  /**
   * The results of reading files, by path: the file's thread, or the file's size if the file has no message yet,
   * because the file may still grow.
   */
  readonly #read = new BoundedMap<string, ListedThread | number>(mostFiles * 2);

  /** @param folder - The folder in which Codex stores its threads, in subfolders for year, month and day. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the threads in which people have written, newest first. */
  async list(): Promise<StoredSession[]> {
    const paths = await newestFiles(this.#folder);
    const found: StoredSession[] = [];
    for (let from = 0; from < paths.length; from += sideBySide) {
      const some = paths.slice(from, from + sideBySide).map((path) => this.#look(path));
      found.push(...(await Promise.all(some)).filter((one) => one !== undefined));
    }
    const newest = found.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    // Each rewind of a thread adds a file. Take the first file for the thread's beginning, and the newest for the time
    // of the last change.
    const threads = Map.groupBy(newest, ({ sessionId }) => sessionId);
    return [...threads.values()].flatMap((files) => {
      const began = files.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)).slice(0, 1);
      return began.map((one) => ({ ...one, updatedAt: files[0]?.updatedAt ?? one.updatedAt }));
    });
  }

  async #look(path: string): Promise<StoredSession | undefined> {
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined) return undefined;
    let known = this.#read.get(path);
    if (known === undefined || (typeof known === 'number' && known !== stats.size)) {
      known = (await readHead(path).catch(() => undefined)) ?? stats.size;
      this.#read.set(path, known);
    }
    if (typeof known === 'number') return undefined;
    return { ...known, updatedAt: stats.mtime.toISOString() };
  }
}

async function newestFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const walk = async (at: string, depth: number): Promise<void> => {
    const names = (await readdir(at).catch((): string[] => [])).toSorted().toReversed();
    for (const name of names) {
      if (files.length >= mostFiles) return;
      if (depth < 3) await walk(join(at, name), depth + 1);
      else if (/^rollout-.*\.jsonl$/.test(name)) files.push(join(at, name));
    }
  };
  await walk(folder, 0);
  return files;
}

/** Reads a thread from the start of its file; returns undefined if the file has no message of a person. */
async function readHead(path: string): Promise<ListedThread | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(headSize) });
    const [first = '', ...lines] = buffer.toString('utf8', 0, bytesRead).split('\n');
    const meta = Meta.safeParse(parseLine(first)).data?.payload;
    if (meta === undefined || !basename(path).includes(meta.id)) return undefined;
    for (const line of lines) {
      const title = userTextIn(line);
      if (title === '') continue;
      const { id, cwd, timestamp } = meta;
      return {
        sessionId: id,
        projectDir: cwd,
        title: Buffer.from(title).toString(),
        createdAt: timestamp,
      };
    }
    return undefined;
  } finally {
    await file.close();
  }
}

function userTextIn(line: string): string {
  if (!/"(?:UserMessage|user_message)"/.test(line)) return '';
  const value = parseLine(line);
  const parts = Completed.safeParse(value).data?.payload.item.content ?? [];
  const message = UserMessage.safeParse(value).data?.payload.message ?? '';
  return [message, ...parts.map(({ text }) => text)].join('\n').trim();
}
