import { type EventPayload, isTerminal, type StreamEvent } from '@liminal/protocol';
import type { RedisServer } from '@liminal/testkit';
import { Redis } from 'ioredis';
import { commandsOnDisk } from './append-only-file.ts';

type Constants = Pick<StreamEvent, 'sessionId' | 'turnId' | 'traceContext'>;

/** Reads the log's contents from Redis's files on disk, without any code of the drivers. */
export class RedisLogReader {
  /** The runs of the log, by id. Each run contains its events in the order in which they were written. */
  readonly runs = new Map<string, StreamEvent[]>();
  readonly #redis: Redis;
  readonly #server: Pick<RedisServer, 'url' | 'folder'>;
  readonly #prefix: string;
  readonly #constants = new Map<string, Constants>();

  constructor(server: Pick<RedisServer, 'url' | 'folder'>, prefix: string) {
    this.#server = server;
    this.#prefix = prefix;
    this.#redis = connect(server.url);
  }

  /** Reads the files from the beginning. Returns the last event of each run that has not ended. */
  async read(): Promise<StreamEvent[]> {
    this.runs.clear();
    const [before, after] = [`${this.#prefix}:run:`, ':events'];
    for (const [name, at, ...how] of await commandsOnDisk(this.#server.folder)) {
      const key = String(at);
      if (String(name) !== 'XADD' || !key.startsWith(before) || !key.endsWith(after)) continue;
      const words = how.map(String);
      const [id = '', ...fields] = words[0] === 'NOMKSTREAM' ? words.slice(1) : words;
      this.#take(key.slice(before.length, -after.length), id, fields);
    }
    return [...this.runs.values()].flatMap((run) => (run.some(isTerminal) ? [] : run.slice(-1)));
  }

  /** Returns a session's runs, oldest first. */
  runsOf(sessionId: string): StreamEvent[][] {
    const own = [...this.runs.values()].filter(([first]) => first?.sessionId === sessionId);
    return own.toSorted((a, b) => begin(a).localeCompare(begin(b)));
  }

  /** Returns what Redis still contains: entries of the registry, and keys that never expire. */
  async left(): Promise<{ announced: number; pending: number; lasting: string[] }> {
    const keys = await this.#scan(`${this.#prefix}*`);
    const more = await this.#scan(`{${this.#prefix}*`);
    const all = [...keys, ...more];
    const lives = await Promise.all(all.map(async (key) => this.#redis.pttl(key)));
    const lasting = all.filter((_, index) => lives[index] === -1);
    const summary = (await this.#redis.call(
      'XPENDING',
      this.#registry,
      'codex-projector-group',
    )) as [number];
    const announced = await this.#redis.xlen(this.#registry);
    return { announced, pending: summary[0], lasting };
  }

  close(): void {
    this.#redis.disconnect();
  }

  get #registry(): string {
    return `${this.#prefix}:runs`;
  }

  #take(runId: string, id: string, list: string[]): void {
    const fields = new Map<string, string>();
    for (let index = 0; index < list.length; index += 2) {
      fields.set(list[index] ?? '', list[index + 1] ?? '');
    }
    const given = fields.get('run');
    if (given !== undefined) this.#constants.set(runId, JSON.parse(given) as Constants);
    const constants = this.#constants.get(runId);
    const type = fields.get('type');
    if (!constants || type === undefined) return;
    const seq = Number(id.split('-')[1]) - 1;
    const payload = JSON.parse(fields.get('payload') ?? '{}') as EventPayload;
    const run = this.runs.get(runId) ?? [];
    this.runs.set(runId, run);
    run.push({
      ...constants,
      eventId: `${runId}:${seq}`,
      seq,
      timestamp: fields.get('timestamp') ?? '',
      runId,
      type,
      payload: { ...payload, type },
    } as StreamEvent);
  }

  async #scan(pattern: string): Promise<string[]> {
    const keys = new Set<string>();
    for (let cursor = '0'; ;) {
      const [next, page] = await this.#redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000);
      for (const key of page) keys.add(key);
      cursor = next;
      if (cursor === '0') return [...keys];
    }
  }
}

function connect(url: string): Redis {
  const patience = { maxRetriesPerRequest: null, retryStrategy: () => 50 };
  return new Redis(url, { ...patience, disableClientInfo: true }).on('error', () => undefined);
}

function begin(run: readonly StreamEvent[]): string {
  return run[0]?.timestamp ?? '';
}
