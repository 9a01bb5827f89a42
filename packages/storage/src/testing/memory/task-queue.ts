import { Signal } from '../../signal.ts';
import type { Task, TaskState, TaskQueue, TaskSide } from '../../coordination.ts';

/** Assigns tasks to workers of the same process. */
export class MemoryTaskQueue implements TaskQueue {
  readonly #waiting: Task[] = [];
  /** The messages by task and side. */
  readonly #messages = new Map<string, string[]>();
  /** Callers that wait for a change of any kind. */
  readonly #signals = new Set<Signal>();
  #workers = 0;
  #count = 0;

  async offer(body: string): Promise<string> {
    const taskId = String(++this.#count);
    this.#waiting.push({ taskId, body });
    this.#notifyAll();
    return taskId;
  }

  async *take(_worker: string, signal: AbortSignal): AsyncGenerator<Task, void> {
    this.#workers += 1;
    try {
      yield* this.#each(() => this.#waiting.shift(), signal);
    } finally {
      this.#workers -= 1;
    }
  }

  async stateOf(taskId: string): Promise<TaskState> {
    if (!this.#waiting.some((task) => task.taskId === taskId)) return 'taken';
    return this.#workers === 0 ? 'unattended' : 'waits';
  }

  async sendMessage(taskId: string, from: TaskSide, message: string): Promise<void> {
    this.#messagesOf(taskId, from).push(message);
    this.#notifyAll();
  }

  follow(taskId: string, from: TaskSide, signal: AbortSignal): AsyncIterable<string> {
    let at = 0;
    const next = () => {
      const message = this.#messagesOf(taskId, from)[at];
      if (message !== undefined) at += 1;
      return message;
    };
    return this.#each(next, signal);
  }

  async withdraw(taskId: string): Promise<void> {
    const at = this.#waiting.findIndex((task) => task.taskId === taskId);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  #messagesOf(taskId: string, from: TaskSide): string[] {
    const name = `${taskId} ${from}`;
    const messages = this.#messages.get(name) ?? [];
    this.#messages.set(name, messages);
    return messages;
  }

  async *#each<T>(next: () => T | undefined, signal: AbortSignal): AsyncGenerator<T, void> {
    const wakeSignal = new Signal();
    const wake = () => wakeSignal.notify();
    this.#signals.add(wakeSignal);
    signal.addEventListener('abort', wake, { once: true });
    try {
      while (!signal.aborted) {
        const one = next();
        if (one === undefined) await wakeSignal.wait();
        else yield one;
      }
    } finally {
      this.#signals.delete(wakeSignal);
      signal.removeEventListener('abort', wake);
    }
  }

  #notifyAll(): void {
    for (const wakeSignal of this.#signals) wakeSignal.notify();
  }
}
