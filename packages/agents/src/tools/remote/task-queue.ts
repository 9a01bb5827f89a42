/** What tools need to run elsewhere: the part of the storage's queue of tasks that they use. */

export interface Task {
  taskId: string;
  body: string;
}

export type Side = 'asker' | 'worker';

/** Gives each task to one worker of all, once, and passes on what both sides say of it. */
export interface ToolQueue {
  offer(body: string): Promise<string>;
  take(worker: string, signal: AbortSignal): AsyncIterable<Task>;
  /** Whether a worker has taken it, or it waits for one, or there is none. */
  outlook(taskId: string): Promise<'taken' | 'waits' | 'unattended'>;
  say(taskId: string, from: Side, message: string): Promise<void>;
  follow(taskId: string, from: Side, signal: AbortSignal): AsyncIterable<string>;
  withdraw(taskId: string): Promise<void>;
}

/** How long each side is patient with the other, ms. */
export interface Patience {
  /** Until it is looked for whether there are any workers. */
  takenMs: number;
  /** How often each side says that it is there. */
  aliveMs: number;
  /** Without a word for so long, the other side is lost. */
  silentMs: number;
  /** How long a worker may take to end what it was told to stop. */
  stopMs: number;
}

export const defaultPatience: Patience = {
  takenMs: 3_000,
  aliveMs: 1_000,
  silentMs: 8_000,
  stopMs: 3_000,
};
