import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '@liminal/protocol';
import type { Tool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import { FromAsker, type FromWorker, Order, read } from './messages.ts';
import { defaultPatience, type Patience, type Task, type ToolQueue } from './task-queue.ts';

export interface ServeOptions {
  /** The worker's name in the queue. */
  worker: string;
  /** Ends the worker; running calls are stopped first. */
  signal: AbortSignal;
  /** How many calls run at the same time; further calls wait, or go to other workers. */
  atOnce?: number;
  patience?: Patience;
}

/** Runs calls of these tools, as offered by `remoteTools`, until the signal aborts and all calls have ended. */
export async function serveTools(
  tools: readonly Tool[],
  queue: ToolQueue,
  { worker, signal, atOnce = 16, patience = defaultPatience }: ServeOptions,
): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const task of queue.take(worker, signal)) {
    const call = new ServedCall(task, tools, queue, patience).run(signal);
    running.add(call);
    void call.finally(() => running.delete(call));
    while (running.size >= atOnce) await Promise.race(running);
  }
  await Promise.all(running);
}

/** How often a result that could not be sent is sent again, and the delay between attempts (ms). */
const retries = { times: 20, everyMs: 500 };

/** The worker's side of one call. */
class ServedCall {
  readonly #task: Task;
  readonly #tools: readonly Tool[];
  readonly #queue: ToolQueue;
  readonly #patience: Patience;
  /** The worker's name for this call, which no other worker has. */
  readonly #name = randomUUID();
  readonly #stop = new AbortController();
  readonly #over = new AbortController();
  readonly #mayBegin = Promise.withResolvers<boolean>();
  #timer: NodeJS.Timeout | undefined;
  /** Printed text that has not been sent yet. */
  #printed = '';
  #printing: Promise<void> = Promise.resolve();

  constructor(task: Task, tools: readonly Tool[], queue: ToolQueue, patience: Patience) {
    this.#task = task;
    this.#tools = tools;
    this.#queue = queue;
    this.#patience = patience;
  }

  /** Runs the call and sends its result. Never rejects. */
  async run(ending: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ending, this.#stop.signal]);
    signal.addEventListener('abort', () => this.#mayBegin.resolve(false), { once: true });
    if (signal.aborted) this.#mayBegin.resolve(false);
    const alive = () => void this.#say({ type: 'alive' }).catch(() => {});
    const heartbeat = setInterval(alive, this.#patience.aliveMs);
    this.#awaitWord();
    const listening = this.#listen();
    try {
      await this.#say({ type: 'taken', worker: this.#name });
      if (await this.#mayBegin.promise) await this.#end(await this.#do(signal));
    } catch {
      // If the message cannot be sent, the server times out; without `taken`, it has not let the call start.
    } finally {
      clearInterval(heartbeat);
      clearTimeout(this.#timer);
      this.#over.abort();
      await listening;
    }
  }

  async #listen(): Promise<void> {
    const { taskId } = this.#task;
    for await (const text of this.#queue.follow(taskId, 'asker', this.#over.signal)) {
      this.#awaitWord();
      const message = read(FromAsker, text);
      if (message?.type === 'go') this.#mayBegin.resolve(message.worker === this.#name);
      if (message?.type === 'cancel') this.#stop.abort();
    }
  }

  /** Stops the call if its server is silent for too long, as if the call ran on that server (invariant 8). */
  #awaitWord(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop.abort(), this.#patience.silentMs);
  }

  async #do(signal: AbortSignal): Promise<FromWorker> {
    const order = read(Order, this.#task.body);
    const tool = this.#tools.find(({ name }) => name === order?.tool);
    const input = tool?.input.safeParse(order?.input);
    if (order === undefined || tool === undefined || input?.success !== true) {
      const message = `The worker does not know this call (${order?.tool}): run it with the version and the settings of the server.`;
      return { type: 'refused', message };
    }
    const print = (text: string) => this.#print(text);
    try {
      const { projectDir, additionalDirectories } = order;
      const context = { projectDir, additionalDirectories, signal, print };
      return { type: 'result', result: await tool.run(input.data, context) };
    } catch (error) {
      return { type: error instanceof ToolError ? 'refused' : 'failed', message: messageOf(error) };
    }
  }

  /** Collects printed text while the previous piece is being sent. */
  #print(text: string): void {
    const isFirst = this.#printed === '';
    this.#printed += text;
    if (!isFirst) return;
    this.#printing = this.#printing.then(async () => {
      const piece = this.#printed;
      this.#printed = '';
      // The result contains all of the printed text again.
      await this.#say({ type: 'print', text: piece }).catch(() => {});
    });
  }

  async #end(message: FromWorker): Promise<void> {
    await this.#printing;
    for (let left = retries.times; ; left -= 1) {
      try {
        return await this.#say(message);
      } catch (error) {
        if (left === 0) throw error;
        await delay(retries.everyMs);
      }
    }
  }

  async #say(message: FromWorker): Promise<void> {
    await this.#queue.say(this.#task.taskId, 'worker', JSON.stringify(message));
  }
}
