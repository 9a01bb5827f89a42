import type { Tool, ToolContext, ToolResult } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import { type ServerMessage, WorkerMessage, type Order, parseMessage } from './messages.ts';
import { defaultTimeouts, type RemoteTimeouts, type ToolQueue } from './task-queue.ts';

/**
 * Returns the same tools with calls that run in a worker; this process describes the calls and determines their
 * permissions.
 */
export function remoteTools(
  tools: readonly Tool[],
  queue: ToolQueue,
  timeouts: RemoteTimeouts = defaultTimeouts,
): Tool[] {
  return tools.map((tool) => ({
    ...tool,
    run: async (input, context) => {
      const { projectDir, additionalDirectories } = context;
      const order = { tool: tool.name, input, projectDir, additionalDirectories };
      return new RemoteCall(queue, timeouts, context).run(order);
    },
  }));
}

const stopped = () => new ToolError('This was stopped.');
const nobody = () =>
  new ToolError('No worker for tools is running: start `liminal tools`. Nothing was done.');
const lostBefore = () =>
  new ToolError('The worker was lost before it began: nothing was done. Try again.');
const lost = () =>
  new ToolError(
    'The worker that ran this was lost. Whether it was done, or how far, is unknown: find that out before you do it again.',
  );
const unanswered = () =>
  new ToolError('This was stopped, but the worker has not confirmed that it has ended.');

/** One call, as the server sees it. */
class RemoteCall {
  readonly #queue: ToolQueue;
  readonly #timeouts: RemoteTimeouts;
  readonly #context: ToolContext;
  readonly #ended = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  #taskId = '';
  /** Whether a worker may have started the call already. */
  #hasBegun = false;
  #timer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(queue: ToolQueue, timeouts: RemoteTimeouts, context: ToolContext) {
    this.#queue = queue;
    this.#timeouts = timeouts;
    this.#context = context;
  }

  async run(order: Order): Promise<ToolResult> {
    const { signal } = this.#context;
    if (signal.aborted) throw stopped();
    this.#taskId = await this.#queue.offer(JSON.stringify(order));
    const stop = () => this.#stop();
    signal.addEventListener('abort', stop, { once: true });
    this.#awaitWorker();
    if (signal.aborted) stop();
    try {
      return await Promise.race([this.#listen(), this.#failed.promise]);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#ended.abort();
      clearTimeout(this.#timer);
      clearInterval(this.#heartbeat);
      if (!this.#hasBegun) this.#queue.withdraw(this.#taskId).catch(() => {});
    }
  }

  async #listen(): Promise<ToolResult> {
    const { signal } = this.#ended;
    for await (const text of this.#queue.follow(this.#taskId, 'worker', signal)) {
      const message = parseMessage(WorkerMessage, text);
      if (this.#hasBegun) this.#awaitMessage();
      if (message?.type === 'taken') await this.#begin(message.worker);
      else if (message?.type === 'print') this.#context.print(message.text);
      else if (message?.type === 'result') return message.result;
      else if (message?.type === 'refused') throw new ToolError(message.message);
      else if (message?.type === 'failed') throw new Error(message.message);
    }
    throw this.#hasBegun ? lost() : stopped();
  }

  async #begin(worker: string): Promise<void> {
    if (this.#hasBegun || this.#ended.signal.aborted) return;
    this.#hasBegun = true;
    this.#heartbeat = setInterval(() => this.#trySend({ type: 'alive' }), this.#timeouts.aliveMs);
    this.#awaitMessage();
    try {
      await this.#send({ type: 'go', worker });
    } catch (cause) {
      // Redis may have stored the message although sending failed.
      throw Object.assign(lost(), { cause });
    }
  }

  #awaitWorker(): void {
    this.#wait(this.#timeouts.takenMs, () => void this.#lookForWorkers());
  }

  async #lookForWorkers(): Promise<void> {
    try {
      const outlook = await this.#queue.stateOf(this.#taskId);
      if (this.#hasBegun || this.#ended.signal.aborted) return;
      if (outlook === 'unattended') this.#fail(nobody());
      else if (outlook === 'waits') this.#awaitWorker();
      else this.#wait(this.#timeouts.silentMs, () => this.#fail(lostBefore()));
    } catch (error) {
      if (!this.#hasBegun) this.#fail(error);
    }
  }

  #awaitMessage(): void {
    // After `cancel`, only `stopMs` limits how long the server waits.
    if (this.#context.signal.aborted) return;
    this.#wait(this.#timeouts.silentMs, () => this.#fail(lost()));
  }

  #stop(): void {
    if (!this.#hasBegun) return this.#fail(stopped());
    this.#trySend({ type: 'cancel' });
    this.#wait(this.#timeouts.stopMs, () => this.#fail(unanswered()));
  }

  /** Ends the call with an error. If a worker has the call, cancels the call there. */
  #fail(error: unknown): void {
    this.#trySend({ type: 'cancel' });
    this.#failed.reject(error);
    this.#ended.abort();
  }

  #wait(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  async #send(message: ServerMessage): Promise<void> {
    await this.#queue.sendMessage(this.#taskId, 'asker', JSON.stringify(message));
  }

  /** Sends a message. If the message is lost, the worker's time limit for silence applies. */
  #trySend(message: ServerMessage): void {
    this.#send(message).catch(() => {});
  }
}
