import { randomUUID } from 'node:crypto';
import { Bell } from '../../bell.ts';
import type { Task, TaskOutlook, TaskQueue, TaskSide } from '../../coordination.ts';
import { isReply, type Keys, patiently, type RedisLink, scripts } from '../connection/index.ts';
import type { StreamEntry, StreamReader } from '../streams/index.ts';

/** The consumer group by which workers share the tasks. */
const GROUP = 'codex-tools-group';
/**
 * The approximate most tasks that wait, and how long they are kept after the last one, ms: no caller waits that long.
 */
const WAITING = { tasks: 10_000, ms: 60 * 60_000 };
/** The approximate most messages of one side that are kept, and for how long after the last one, ms. */
const SAID = { messages: 10_000, ms: 60_000 };
/** How long a worker counts as present, and how often it reports its presence, ms. */
const THERE = { ms: 5_000, everyMs: 1_500 };

/** A stream of tasks that no worker has taken. A taken task is removed from it, so that no task is assigned twice. */
export class RedisTaskQueue implements TaskQueue {
  readonly #link: RedisLink;
  readonly #keys: Keys;
  readonly #reader: StreamReader;
  readonly #closing = new AbortController();
  /** One bell for each worker of this server, by the worker's name in the group. */
  readonly #bells = new Map<string, Bell>();
  #stopWatching: (() => void) | undefined;

  constructor(link: RedisLink, keys: Keys, reader: StreamReader) {
    this.#link = link;
    this.#keys = keys;
    this.#reader = reader;
  }

  async offer(body: string): Promise<string> {
    const key = this.#keys.tasks;
    const adding = ['MAXLEN', '~', WAITING.tasks, '*', 'body', body];
    const [taskId] = await Promise.all([
      this.#link.call('XADD', key, ...adding),
      this.#link.call('PEXPIRE', key, WAITING.ms),
    ]);
    return String(taskId);
  }

  async *take(name: string, signal: AbortSignal): AsyncGenerator<Task, void> {
    const worker = `${name}:${randomUUID()}`;
    const over = AbortSignal.any([signal, this.#closing.signal]);
    const bell = new Bell();
    const attend = () => {
      this.#attend(worker, THERE.ms).catch(() => {});
      // Tasks may have been missed while Redis was unavailable.
      bell.ring();
    };
    const timer = setInterval(attend, THERE.everyMs).unref();
    const ring = () => bell.ring();
    over.addEventListener('abort', ring, { once: true });
    this.#bells.set(worker, bell);
    this.#watch();
    try {
      await this.#attend(worker, THERE.ms).catch(() => {});
      while (!over.aborted) {
        const task = await this.#next(worker, over);
        if (task) yield task;
        else await bell.heard();
      }
    } finally {
      clearInterval(timer);
      over.removeEventListener('abort', ring);
      this.#bells.delete(worker);
      if (this.#bells.size === 0) this.#unwatch();
      await this.#attend(worker, 0).catch(() => {});
    }
  }

  async outlook(taskId: string): Promise<TaskOutlook> {
    const [workers, found] = await Promise.all([
      this.#attend('', 0),
      this.#link.call('XRANGE', this.#keys.tasks, taskId, taskId),
    ]);
    if ((found as StreamEntry[]).length === 0) return 'taken';
    return workers === 0 ? 'unattended' : 'waits';
  }

  async say(taskId: string, from: TaskSide, message: string): Promise<void> {
    const args = [message, SAID.messages, SAID.ms];
    await this.#link.run(scripts.say, [this.#keys.said(taskId, from)], args);
  }

  async *follow(taskId: string, from: TaskSide, signal: AbortSignal): AsyncGenerator<string, void> {
    const over = AbortSignal.any([signal, this.#closing.signal]);
    const heard: string[] = [];
    const bell = new Bell();
    const ring = () => bell.ring();
    over.addEventListener('abort', ring, { once: true });
    const stop = this.#reader.watch(this.#keys.said(taskId, from), '0-0', {
      onEntries: (entries) => {
        for (const [, [, message = '']] of entries) heard.push(message);
        bell.ring();
      },
    });
    try {
      while (!over.aborted) {
        const message = heard.shift();
        if (message === undefined) await bell.heard();
        else yield message;
      }
    } finally {
      stop();
      over.removeEventListener('abort', ring);
    }
  }

  async withdraw(taskId: string): Promise<void> {
    await this.#link.call('XDEL', this.#keys.tasks, taskId);
  }

  /** Ends all waiting calls of this server. */
  async close(): Promise<void> {
    this.#closing.abort();
    const workers = [...this.#bells.keys()];
    await Promise.allSettled(workers.map(async (worker) => this.#attend(worker, 0)));
  }

  async #attend(worker: string, ms: number): Promise<number> {
    const pair = [this.#keys.tasks, this.#keys.taskWorkers];
    return Number(await this.#link.run(scripts.attend, pair, [GROUP, worker, ms, WAITING.ms]));
  }

  /** Takes a task that no worker has; undefined if there is none. */
  async #next(worker: string, over: AbortSignal): Promise<Task | undefined> {
    const entry = await patiently(
      () => !over.aborted,
      async () => this.#link.run(scripts.takeTask, [this.#keys.tasks], [GROUP, worker]),
      async (error) => {
        // A Redis that has lost its data has also lost the group.
        if (isReply(error, 'NOGROUP')) await this.#attend(worker, THERE.ms).catch(() => {});
      },
    );
    if (!entry) return undefined;
    const [taskId, [, body = '']] = entry as StreamEntry;
    return { taskId, body };
  }

  #watch(): void {
    const ring = () => {
      for (const bell of this.#bells.values()) bell.ring();
    };
    this.#stopWatching ??= this.#reader.watch(this.#keys.tasks, '0-0', {
      onEntries: ring,
      onBack: ring,
    });
  }

  #unwatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }
}
