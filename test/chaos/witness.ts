import { setTimeout as delay } from 'node:timers/promises';
import { type EventPayload, isTerminal, type StreamEvent } from '@liminal/protocol';
import { Redis } from 'ioredis';

type Entry = [id: string, fields: string[]];
type Constants = Pick<StreamEvent, 'sessionId' | 'turnId' | 'traceContext'>;

/** How long it waits in Redis for news, and how often it looks for runs that it has not heard of, ms. */
const times = { blockMs: 150, lookMs: 2_000 };

/** Reads all that is written into the log as it is written, by plain XREAD and without any code of the drivers. */
export class Witness {
  /** By run, each in the order in which it stands in the log. */
  readonly runs = new Map<string, StreamEvent[]>();
  /** One that waits for news, and one for questions. */
  readonly #waiting: Redis;
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #at = new Map<string, string>();
  readonly #constants = new Map<string, Constants>();
  #lookedAt = 0;
  #closed = false;
  readonly #reading: Promise<void>;

  constructor(url: string, prefix: string) {
    [this.#waiting, this.#redis] = [connect(url), connect(url)];
    this.#prefix = prefix;
    this.#at.set(this.#registry, '0-0');
    this.#reading = this.#readOn();
  }

  /** A session's runs, oldest first. */
  runsOf(sessionId: string): StreamEvent[][] {
    const own = [...this.runs.values()].filter(([first]) => first?.sessionId === sessionId);
    return own.toSorted((a, b) => begin(a).localeCompare(begin(b)));
  }

  /** The last event of each run that it knows of and that has not ended. */
  get open(): StreamEvent[] {
    return [...this.runs.values()].flatMap((run) => (run.some(isTerminal) ? [] : run.slice(-1)));
  }

  /** What Redis still holds: what is in the registry, and the keys that nothing will remove. */
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

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.disconnect();
    this.#redis.disconnect();
    await this.#reading;
  }

  get #registry(): string {
    return `${this.#prefix}:runs`;
  }

  async #readOn(): Promise<void> {
    while (!this.#closed) {
      try {
        if (performance.now() - this.#lookedAt > times.lookMs) await this.#look();
        await this.#read();
      } catch {
        if (!this.#closed) await delay(20);
      }
    }
  }

  /** A run may come and go in the registry while nobody waits there. */
  async #look(): Promise<void> {
    for (const key of await this.#scan(`${this.#prefix}:run:*:events`)) this.#follow(key);
    this.#lookedAt = performance.now();
  }

  async #read(): Promise<void> {
    const how = ['COUNT', 1_000, 'BLOCK', times.blockMs, 'STREAMS'];
    const news = await this.#waiting.call(
      'XREAD',
      ...how,
      ...this.#at.keys(),
      ...this.#at.values(),
    );
    for (const [key, entries] of (news ?? []) as [string, Entry[]][]) {
      const last = entries.at(-1)?.[0];
      if (last !== undefined) this.#at.set(key, last);
      if (key === this.#registry) {
        for (const [, [, runId]] of entries) this.#follow(`${this.#prefix}:run:${runId}:events`);
      } else {
        for (const entry of entries) this.#take(key.split(':').at(-2) ?? '', entry);
      }
    }
  }

  #follow(key: string): void {
    if (!this.#at.has(key)) this.#at.set(key, '0-0');
  }

  #take(runId: string, [id, list]: Entry): void {
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
