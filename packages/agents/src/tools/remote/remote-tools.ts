import type { Tool, ToolContext, ToolResult } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import { type FromAsker, FromWorker, type Order, read } from './messages.ts';
import { defaultPatience, type Patience, type ToolQueue } from './task-queue.ts';

/** The same tools, whose calls run in a worker; the shown face and the permissions of a call are determined here. */
export function remoteTools(
  tools: readonly Tool[],
  queue: ToolQueue,
  patience: Patience = defaultPatience,
): Tool[] {
  return tools.map((tool) => ({
    ...tool,
    run: async (input, context) => {
      const { projectDir, additionalDirectories } = context;
      const order = { tool: tool.name, input, projectDir, additionalDirectories };
      return new RemoteCall(queue, patience, context).run(order);
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

/** The server's side of one call. */
class RemoteCall {
  readonly #queue: ToolQueue;
  readonly #patience: Patience;
  readonly #context: ToolContext;
  readonly #over = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  #taskId = '';
  /** Whether a worker may have started the call. */
  #hasBegun = false;
  #timer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(queue: ToolQueue, patience: Patience, context: ToolContext) {
    this.#queue = queue;
    this.#patience = patience;
    this.#context = context;
  }

  async run(order: Order): Promise<ToolResult> {
    const { signal } = this.#context;
    if (signal.aborted) throw stopped();
    this.#taskId = await this.#queue.offer(JSON.stringify(order));
    const stop = () => this.#stop();
    signal.addEventListener('abort', stop, { once: true });
    this.#awaitTaker();
    if (signal.aborted) stop();
    try {
      return await Promise.race([this.#listen(), this.#failed.promise]);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#over.abort();
      clearTimeout(this.#timer);
      clearInterval(this.#heartbeat);
      if (!this.#hasBegun) this.#queue.withdraw(this.#taskId).catch(() => {});
    }
  }

  async #listen(): Promise<ToolResult> {
    const { signal } = this.#over;
    for await (const text of this.#queue.follow(this.#taskId, 'worker', signal)) {
      const message = read(FromWorker, text);
      if (this.#hasBegun) this.#awaitWord();
      if (message?.type === 'taken') await this.#begin(message.worker);
      else if (message?.type === 'print') this.#context.print(message.text);
      else if (message?.type === 'result') return message.result;
      else if (message?.type === 'refused') throw new ToolError(message.message);
      else if (message?.type === 'failed') throw new Error(message.message);
    }
    throw this.#hasBegun ? lost() : stopped();
  }

  async #begin(worker: string): Promise<void> {
    if (this.#hasBegun || this.#over.signal.aborted) return;
    this.#hasBegun = true;
    this.#heartbeat = setInterval(() => this.#say({ type: 'alive' }), this.#patience.aliveMs);
    this.#awaitWord();
    try {
      await this.#tell({ type: 'go', worker });
    } catch (cause) {
      // Redis may have stored the message nevertheless.
      throw Object.assign(lost(), { cause });
    }
  }

  #awaitTaker(): void {
    this.#wait(this.#patience.takenMs, () => void this.#lookForWorkers());
  }

  async #lookForWorkers(): Promise<void> {
    try {
      const outlook = await this.#queue.outlook(this.#taskId);
      if (this.#hasBegun || this.#over.signal.aborted) return;
      if (outlook === 'unattended') this.#fail(nobody());
      else if (outlook === 'waits') this.#awaitTaker();
      else this.#wait(this.#patience.silentMs, () => this.#fail(lostBefore()));
    } catch (error) {
      if (!this.#hasBegun) this.#fail(error);
    }
  }

  #awaitWord(): void {
    // After `cancel`, only `stopMs` limits the wait.
    if (this.#context.signal.aborted) return;
    this.#wait(this.#patience.silentMs, () => this.#fail(lost()));
  }

  #stop(): void {
    if (!this.#hasBegun) return this.#fail(stopped());
    this.#say({ type: 'cancel' });
    this.#wait(this.#patience.stopMs, () => this.#fail(unanswered()));
  }

  /** Ends the call with an error, and cancels it in its worker, if it has one. */
  #fail(error: unknown): void {
    this.#say({ type: 'cancel' });
    this.#failed.reject(error);
    this.#over.abort();
  }

  #wait(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  async #tell(message: FromAsker): Promise<void> {
    await this.#queue.say(this.#taskId, 'asker', JSON.stringify(message));
  }

  /** Sends a message. A lost message has the same effect as silence. */
  #say(message: FromAsker): void {
    this.#tell(message).catch(() => {});
  }
}
