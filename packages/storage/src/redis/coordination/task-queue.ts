import { randomUUID } from 'node:crypto';
import { Signal } from '../../signal.ts';
import type { Task, TaskState, TaskQueue, TaskSide } from '../../coordination.ts';
import { isReply, type Keys, retryWhile, type RedisLink, scripts } from '../connection/index.ts';
import type { StreamEntry, StreamReader } from '../streams/index.ts';

/** The consumer group by which workers share the tasks. */
const group = 'codex-tools-group';
/**
 * The approximate maximum of waiting tasks; and for how long after the last task the waiting tasks are kept, in ms. No
 * caller waits longer than this time.
 */
const waiting = { tasks: 10_000, ms: 60 * 60_000 };
/**
 * The approximate maximum of messages of one side; and for how long after the last message these messages are kept, in
 * ms.
 */
const messages = { messages: 10_000, ms: 60_000 };
/** How long a worker counts as present, and how often it reports its presence, ms. */
const presence = { ms: 5_000, everyMs: 1_500 };

/**
 * A stream of tasks that no worker has taken. A taken task is removed from the stream, so that no task is assigned
 * twice.
 */
export class RedisTaskQueue implements TaskQueue {
  readonly #link: RedisLink;
  readonly #keys: Keys;
  readonly #reader: StreamReader;
  readonly #closing = new AbortController();
  /** One signal for each worker of this server, by the worker's name in the group. */
  readonly #wakeSignals = new Map<string, Signal>();
  #stopWatching: (() => void) | undefined;

  constructor(link: RedisLink, keys: Keys, reader: StreamReader) {
    this.#link = link;
    this.#keys = keys;
    this.#reader = reader;
  }

  async offer(body: string): Promise<string> {
    const key = this.#keys.tasks;
    const adding = ['MAXLEN', '~', waiting.tasks, '*', 'body', body];
    const [taskId] = await Promise.all([
      this.#link.call('XADD', key, ...adding),
      this.#link.call('PEXPIRE', key, waiting.ms),
    ]);
    return String(taskId);
  }

  async *take(name: string, signal: AbortSignal): AsyncGenerator<Task, void> {
    const worker = `${name}:${randomUUID()}`;
    const stopSignal = AbortSignal.any([signal, this.#closing.signal]);
    const wakeSignal = new Signal();
    const attend = () => {
      this.#attend(worker, presence.ms).catch(() => {});
      // Tasks may have been missed while Redis was unavailable.
      wakeSignal.notify();
    };
    const timer = setInterval(attend, presence.everyMs).unref();
    const wake = () => wakeSignal.notify();
    stopSignal.addEventListener('abort', wake, { once: true });
    this.#wakeSignals.set(worker, wakeSignal);
    this.#watch();
    try {
      await this.#attend(worker, presence.ms).catch(() => {});
      while (!stopSignal.aborted) {
        const task = await this.#next(worker, stopSignal);
        if (task) yield task;
        else await wakeSignal.wait();
      }
    } finally {
      clearInterval(timer);
      stopSignal.removeEventListener('abort', wake);
      this.#wakeSignals.delete(worker);
      if (this.#wakeSignals.size === 0) this.#unwatch();
      await this.#attend(worker, 0).catch(() => {});
    }
  }

  async stateOf(taskId: string): Promise<TaskState> {
    const [workers, found] = await Promise.all([
      this.#attend('', 0),
      this.#link.call('XRANGE', this.#keys.tasks, taskId, taskId),
    ]);
    if ((found as StreamEntry[]).length === 0) return 'taken';
    return workers === 0 ? 'unattended' : 'waits';
  }

  async sendMessage(taskId: string, from: TaskSide, message: string): Promise<void> {
    const args = [message, messages.messages, messages.ms];
    await this.#link.run(scripts.say, [this.#keys.taskMessages(taskId, from)], args);
  }

  async *follow(taskId: string, from: TaskSide, signal: AbortSignal): AsyncGenerator<string, void> {
    const stopSignal = AbortSignal.any([signal, this.#closing.signal]);
    const received: string[] = [];
    const wakeSignal = new Signal();
    const wake = () => wakeSignal.notify();
    stopSignal.addEventListener('abort', wake, { once: true });
    const stop = this.#reader.watch(this.#keys.taskMessages(taskId, from), '0-0', {
      onEntries: (entries) => {
        for (const [, [, message = '']] of entries) received.push(message);
        wakeSignal.notify();
      },
    });
    try {
      while (!stopSignal.aborted) {
        const message = received.shift();
        if (message === undefined) await wakeSignal.wait();
        else yield message;
      }
    } finally {
      stop();
      stopSignal.removeEventListener('abort', wake);
    }
  }

  async withdraw(taskId: string): Promise<void> {
    await this.#link.call('XDEL', this.#keys.tasks, taskId);
  }

  /** Ends all waiting calls of this server. */
  async close(): Promise<void> {
    this.#closing.abort();
    const workers = [...this.#wakeSignals.keys()];
    await Promise.allSettled(workers.map(async (worker) => this.#attend(worker, 0)));
  }

  async #attend(worker: string, ms: number): Promise<number> {
    const pair = [this.#keys.tasks, this.#keys.taskWorkers];
    return Number(await this.#link.run(scripts.attend, pair, [group, worker, ms, waiting.ms]));
  }

  /** Takes a task that no worker has taken; resolves with undefined if there is no such task. */
  async #next(worker: string, stopSignal: AbortSignal): Promise<Task | undefined> {
    const entry = await retryWhile(
      () => !stopSignal.aborted,
      async () => this.#link.run(scripts.takeTask, [this.#keys.tasks], [group, worker]),
      async (error) => {
        // A Redis that has lost its data has also lost the consumer group, so create the group again.
        if (isReply(error, 'NOGROUP')) await this.#attend(worker, presence.ms).catch(() => {});
      },
    );
    if (!entry) return undefined;
    const [taskId, [, body = '']] = entry as StreamEntry;
    return { taskId, body };
  }

  #watch(): void {
    const wakeAll = () => {
      for (const wakeSignal of this.#wakeSignals.values()) wakeSignal.notify();
    };
    this.#stopWatching ??= this.#reader.watch(this.#keys.tasks, '0-0', {
      onEntries: wakeAll,
      onReconnect: wakeAll,
    });
  }

  #unwatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }
}
