/** The part of the storage's task queue that remote tools use. */

export interface ToolTask {
  taskId: string;
  body: string;
}

export type QueueSide = 'asker' | 'worker';

/** Hands each task to one worker, once, and passes messages between both sides. */
export interface ToolQueue {
  offer(body: string): Promise<string>;
  take(worker: string, signal: AbortSignal): AsyncIterable<ToolTask>;
  /** Whether a worker has taken the task, the task waits for a worker, or there are no workers. */
  stateOf(taskId: string): Promise<'taken' | 'waits' | 'unattended'>;
  sendMessage(taskId: string, from: QueueSide, message: string): Promise<void>;
  follow(taskId: string, from: QueueSide, signal: AbortSignal): AsyncIterable<string>;
  withdraw(taskId: string): Promise<void>;
}

/** How long each side waits for the other, ms. */
export interface RemoteTimeouts {
  /** Time until the server checks whether there are any workers. */
  takenMs: number;
  /** Interval at which each side sends `alive`. */
  aliveMs: number;
  /** The other side counts as lost after this time without a message. */
  silentMs: number;
  /** How long a worker may take to end a call that was cancelled. */
  stopMs: number;
}

export const defaultTimeouts: RemoteTimeouts = {
  takenMs: 3_000,
  aliveMs: 1_000,
  silentMs: 8_000,
  stopMs: 3_000,
};
