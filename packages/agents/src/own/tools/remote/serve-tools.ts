import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { thrownMessage, withRetries } from '@liminal/protocol';
import type { Tool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import { ServerMessage, type WorkerMessage, Order, parseMessage } from './messages.ts';
import {
  defaultTimeouts,
  type RemoteTimeouts,
  type ToolTask,
  type ToolQueue,
} from './task-queue.ts';

export interface ServeOptions {
  /** The worker's name in the queue. */
  worker: string;
  /** Stops the running calls, then ends the worker. */
  signal: AbortSignal;
  /** The most calls that run at the same time in this worker; further calls wait, or go to other workers. */
  atOnce?: number;
  timeouts?: RemoteTimeouts;
}

/** Runs calls that were offered by `remoteTools`, until the signal aborts and all calls have ended. */
export async function serveTools(
  tools: readonly Tool[],
  queue: ToolQueue,
  { worker, signal, atOnce = 16, timeouts = defaultTimeouts }: ServeOptions,
): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const task of queue.take(worker, signal)) {
    const call = new ServedCall(task, tools, queue, timeouts).run(signal);
    running.add(call);
    void call.finally(() => running.delete(call));
    while (running.size >= atOnce) await Promise.race(running);
  }
  await Promise.all(running);
}

/** The number of attempts to send a result again, and the delay between the attempts (ms). */
const retries = { times: 20, everyMs: 500 };

/** One call, as the worker sees it. */
class ServedCall {
  readonly #task: ToolTask;
  readonly #tools: readonly Tool[];
  readonly #queue: ToolQueue;
  readonly #timeouts: RemoteTimeouts;
  /** The name that the worker has made for this call; no other call or worker has this name. */
  readonly #name = randomUUID();
  readonly #stop = new AbortController();
  readonly #ended = new AbortController();
  readonly #mayBegin = Promise.withResolvers<boolean>();
  #timer: NodeJS.Timeout | undefined;
  /** Printed text that was not sent yet. */
  #printed = '';
  #printing: Promise<void> = Promise.resolve();

  constructor(task: ToolTask, tools: readonly Tool[], queue: ToolQueue, timeouts: RemoteTimeouts) {
    this.#task = task;
    this.#tools = tools;
    this.#queue = queue;
    this.#timeouts = timeouts;
  }

  /** Runs the call, and sends its result to the server. Never rejects. */
  async run(ending: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ending, this.#stop.signal]);
    signal.addEventListener('abort', () => this.#mayBegin.resolve(false), { once: true });
    if (signal.aborted) this.#mayBegin.resolve(false);
    const alive = () => void this.#send({ type: 'alive' }).catch(() => {});
    const heartbeat = setInterval(alive, this.#timeouts.aliveMs);
    this.#awaitMessage();
    const listening = this.#listen();
    try {
      await this.#send({ type: 'taken', worker: this.#name });
      if (await this.#mayBegin.promise) await this.#end(await this.#do(signal));
    } catch {
      // If the message cannot be sent, the server's time limit applies; without `taken`, the server does not send `go`.
    } finally {
      clearInterval(heartbeat);
      clearTimeout(this.#timer);
      this.#ended.abort();
      await listening;
    }
  }

  async #listen(): Promise<void> {
    const { taskId } = this.#task;
    for await (const text of this.#queue.follow(taskId, 'asker', this.#ended.signal)) {
      this.#awaitMessage();
      const message = parseMessage(ServerMessage, text);
      if (message?.type === 'go') this.#mayBegin.resolve(message.worker === this.#name);
      if (message?.type === 'cancel') this.#stop.abort();
    }
  }

  /**
   * Stops the call if no message from its server arrives for too long: a call must not outlive its server (invariant
   * 8).
   */
  #awaitMessage(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop.abort(), this.#timeouts.silentMs);
  }

  async #do(signal: AbortSignal): Promise<WorkerMessage> {
    const order = parseMessage(Order, this.#task.body);
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
      return {
        type: error instanceof ToolError ? 'refused' : 'failed',
        message: thrownMessage(error),
      };
    }
  }

  /** Sends printed text; text that is printed while a piece is being sent becomes the next piece. */
  #print(text: string): void {
    const isFirst = this.#printed === '';
    this.#printed += text;
    if (!isFirst) return;
    this.#printing = this.#printing.then(async () => {
      const piece = this.#printed;
      this.#printed = '';
      // A lost piece does no harm, because the result has all of the printed text again.
      await this.#send({ type: 'print', text: piece }).catch(() => {});
    });
  }

  async #end(message: WorkerMessage): Promise<void> {
    await this.#printing;
    await withRetries(
      async () => this.#send(message),
      async (error, attempts) => {
        if (attempts > retries.times) throw error;
        await delay(retries.everyMs);
      },
    );
  }

  async #send(message: WorkerMessage): Promise<void> {
    await this.#queue.sendMessage(this.#task.taskId, 'worker', JSON.stringify(message));
  }
}
