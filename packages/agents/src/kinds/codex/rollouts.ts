/** Codex' own files: a thread's rollout has a line for each event of the thread. */
import { BoundedMap } from '@liminal/protocol';
import { open, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { type GrowingFile, readAppendedLines } from '../../base/appended-lines.ts';
import { isRecord, parseLine } from '../../base/parse-line.ts';

/**
 * The largest number of threads, and of turns of this server, that are cached. The file of a thread that is no longer
 * cached is read again from its beginning.
 */
const maxScans = 200;
const maxTurns = 10_000;
const dayMs = 24 * 60 * 60 * 1_000;

interface Scan extends GrowingFile {
  /** The number of entries that other programs wrote. */
  foreign: number;
}

/** @param env - Codex' environment, which sets where Codex stores its threads. */
export const rolloutFolder = (env: NodeJS.ProcessEnv): string =>
  join(env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex'), 'sessions');

/** Detects whether other programs have continued a thread. Reads only what was added since the last scan. */
export class Rollouts {
  readonly #folder: string;
  readonly #scans = new BoundedMap<string, Scan>(maxScans);
  /** Running scans, by thread. */
  readonly #marking = new Map<string, Promise<unknown>>();
  readonly #own = new BoundedMap<string, true>(maxTurns);

  /** @param env - Codex' environment, which sets where Codex stores its threads. */
  constructor(env: NodeJS.ProcessEnv) {
    this.#folder = rolloutFolder(env);
  }

  /** Records that this server ran a turn. `nativeTurnId` is Codex' own id for the turn. */
  noteOwn(nativeTurnId: string): void {
    this.#own.set(nativeTurnId, true);
  }

  /**
   * Returns a mark that changes when another program writes to the thread's file; undefined if the thread has no file.
   */
  async mark(threadId: string): Promise<string | undefined> {
    // Scan one after the other: two scans at once would count the same lines twice.
    const marking = (this.#marking.get(threadId) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this.#mark(threadId));
    this.#marking.set(threadId, marking);
    return marking.finally(() => {
      if (this.#marking.get(threadId) === marking) this.#marking.delete(threadId);
    });
  }

  async #mark(threadId: string): Promise<string | undefined> {
    const known = this.#scans.get(threadId);
    const path = await this.#find(threadId);
    if (path === undefined) return undefined;
    const size = (await stat(path).catch(() => undefined))?.size;
    if (size === undefined) return undefined;
    const isNew = known?.path !== path || size < known.offset;
    const scan = isNew ? { path, offset: 0, foreign: 0 } : known;
    this.#scans.set(threadId, scan);
    await readAppendedLines(scan, size, (line) => {
      if (this.#isForeign(line)) scan.foreign += 1;
    });
    const [, place = ''] = path.split(`-${threadId}`);
    return `${scan.foreign}${place.replace(/\.jsonl$/, '')}`;
  }

  /** Returns a thread's project folder; undefined if the thread has no file. */
  async projectDir(threadId: string): Promise<string | undefined> {
    const path = await this.#find(threadId);
    if (path === undefined) return undefined;
    const file = await open(path);
    try {
      for await (const line of file.readLines()) {
        const entry = parseLine(line);
        const payload = isRecord(entry) && isRecord(entry['payload']) ? entry['payload'] : {};
        return typeof payload['cwd'] === 'string' ? payload['cwd'] : undefined;
      }
      return undefined;
    } finally {
      await file.close();
    }
  }

  #isForeign(line: string): boolean {
    // Search for these words before parsing the line: most lines are items, and may be long.
    if (!/"(?:task_started|thread_rolled_back)"/.test(line)) return false;
    const entry = parseLine(line);
    const payload = isRecord(entry) && isRecord(entry['payload']) ? entry['payload'] : {};
    if (payload['type'] === 'thread_rolled_back') return true;
    const turnId = payload['turn_id'];
    return payload['type'] === 'task_started' && this.#own.get(String(turnId)) !== true;
  }

  /**
   * Returns the newest file of a thread. Codex stores a thread's first file in the folder of the day on which the
   * thread began, which the thread's id contains. Each rewind of the thread adds a file. Codex' day may differ from
   * this server's day, because Codex may use a different time zone.
   */
  async #find(threadId: string): Promise<string | undefined> {
    const began = Number.parseInt(threadId.replaceAll('-', '').slice(0, 12), 16);
    if (!/^[\da-f]{8}-[\da-f]{4}-7/.test(threadId)) return undefined;
    const days = [began, Date.now()].flatMap((at) => [at, at - dayMs, at + dayMs].map(folderOf));
    const isOwn = (name: string): boolean =>
      name.endsWith(`-${threadId}.jsonl`) ||
      (name.includes(`-${threadId}_`) && name.endsWith('.jsonl'));
    const found = [...new Set(days)].map(async (day) => {
      const folder = join(this.#folder, day);
      const names = await readdir(folder).catch((): string[] => []);
      return names.filter(isOwn).map((name) => join(folder, name));
    });
    // The files' names begin with a time in seconds, so sorting by name finds the newest file. If two files have the
    // same time, the rest of the name decides.
    const paths = (await Promise.all(found)).flat();
    return paths.toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1)).at(-1);
  }
}

/** Returns the relative path of a day's folder. */
const folderOf = (at: number): string =>
  join(...(new Date(at).toISOString().split('T')[0] ?? '').split('-'));
