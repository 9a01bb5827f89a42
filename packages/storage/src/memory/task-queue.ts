import { Bell } from '../bell.ts';
import type { Task, TaskOutlook, TaskQueue, TaskSide } from '../coordination.ts';

/** Assigns tasks to workers of the same process. */
export class MemoryTaskQueue implements TaskQueue {
  readonly #waiting: Task[] = [];
  /** The messages by task and side. */
  readonly #said = new Map<string, string[]>();
  /** Callers that wait for a change of any kind. */
  readonly #bells = new Set<Bell>();
  #workers = 0;
  #count = 0;

  async offer(body: string): Promise<string> {
    const taskId = String(++this.#count);
    this.#waiting.push({ taskId, body });
    this.#ring();
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

  async outlook(taskId: string): Promise<TaskOutlook> {
    if (!this.#waiting.some((task) => task.taskId === taskId)) return 'taken';
    return this.#workers === 0 ? 'unattended' : 'waits';
  }

  async say(taskId: string, from: TaskSide, message: string): Promise<void> {
    this.#saidBy(taskId, from).push(message);
    this.#ring();
  }

  follow(taskId: string, from: TaskSide, signal: AbortSignal): AsyncIterable<string> {
    let at = 0;
    const next = () => {
      const message = this.#saidBy(taskId, from)[at];
      if (message !== undefined) at += 1;
      return message;
    };
    return this.#each(next, signal);
  }

  async withdraw(taskId: string): Promise<void> {
    const at = this.#waiting.findIndex((task) => task.taskId === taskId);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  #saidBy(taskId: string, from: TaskSide): string[] {
    const name = `${taskId} ${from}`;
    const said = this.#said.get(name) ?? [];
    this.#said.set(name, said);
    return said;
  }

  async *#each<T>(next: () => T | undefined, signal: AbortSignal): AsyncGenerator<T, void> {
    const bell = new Bell();
    const ring = () => bell.ring();
    this.#bells.add(bell);
    signal.addEventListener('abort', ring, { once: true });
    try {
      while (!signal.aborted) {
        const one = next();
        if (one === undefined) await bell.heard();
        else yield one;
      }
    } finally {
      this.#bells.delete(bell);
      signal.removeEventListener('abort', ring);
    }
  }

  #ring(): void {
    for (const bell of this.#bells) bell.ring();
  }
}
